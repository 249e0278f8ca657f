// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of network destinations, and whether one admits another. No policy of this version has such a list yet; the
// comparison stands beside that of paths because both have to be exact in the same sense.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cordon::policy {

struct HostGrant {
  std::string host = {};                  // a name, an address, or *.SUFFIX for every name below SUFFIX
  std::vector<std::uint16_t> ports = {};  // empty: all
  bool private_addresses = false;         // private and loopback addresses too
  bool operator==(const HostGrant&) const = default;
};

// Is everything that `asked` reaches reached by some entry of `most`? Names compare without case and without the dot at
// their end; *.SUFFIX does not admit SUFFIX itself, nor xSUFFIX. Addresses compare as text.
bool host_admitted(std::span<const HostGrant> most, const HostGrant& asked);

}  // namespace cordon::policy
