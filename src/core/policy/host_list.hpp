// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of network destinations, and whether one admits another. The comparison stands beside that of paths because
// both have to be exact in the same sense.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::policy {

struct HostGrant {
  std::string host = {};                  // a name, an address, or *.SUFFIX for every name below SUFFIX
  std::vector<std::uint16_t> ports = {};  // empty: all
  bool private_addresses = false;         // private and loopback addresses too
  std::string reason = {};
  int line = 0;  // in the policy
  int column = 0;
  bool operator==(const HostGrant&) const = default;
};

// Words in the order of strictness.
enum class SniCheck : std::uint8_t { off, flag, match };
enum class NetworkMode : std::uint8_t { proxy, transparent };
std::string_view name(SniCheck check);
std::string_view name(NetworkMode mode);

// isolation.network of a policy, and of a ceiling. Nothing allowed: no network.
struct Network {
  std::vector<HostGrant> allow = {};
  SniCheck sni = SniCheck::match;
  NetworkMode mode = NetworkMode::transparent;
  bool operator==(const Network&) const = default;
};

// "api.github.com:443,8443", "127.0.0.1:5432 private"
std::string to_text(const HostGrant& grant);

// Is everything that `asked` reaches reached by some entry of `most`? Names compare without case and without the dot at
// their end; *.SUFFIX does not admit SUFFIX itself, nor xSUFFIX. Addresses compare as text.
bool host_admitted(std::span<const HostGrant> most, const HostGrant& asked);

}  // namespace cordon::policy
