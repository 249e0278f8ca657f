// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an address is, wherever it came from: a name that is allowed may be made to point at this machine, at its
// network or at the service that hands out a cloud's credentials. Judged after resolution, on the address that is
// then connected to.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "egress/plan.hpp"

namespace cordon::egress {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes = {};  // IPv4: the first four
  bool v6 = false;
  auto operator<=>(const IpAddress&) const = default;
};
IpAddress ip_address(Ipv4 address);
std::string to_string(const IpAddress& address);
std::optional<IpAddress> ip_address_from_text(std::string_view text);

enum class Scope : std::uint8_t {
  global,
  own,          // this host's
  loopback,     // 127.0.0.0/8, ::1
  private_use,  // RFC 1918, unique local, site-local
  carrier,      // 100.64.0.0/10
  example,      // of documentation: routed nowhere, but some networks use them as private ones
  link_local,
  metadata,  // where clouds hand out credentials; also those at global addresses
  multicast,
  broadcast,
  unspecified,  // 0.0.0.0/8, ::
  benchmark,    // 198.18.0.0/15: the names inside
  embedded,     // IPv4 within IPv6: mapped, compatible, 6to4, Teredo
  reserved,     // protocol assignments, not assigned
};
std::string_view name(Scope scope);

// `own`: the addresses of this host. 64:ff9b::/96 (NAT64) is what the address in it is.
Scope scope_of(const IpAddress& address, std::span<const IpAddress> own);

// May a connection go there? With `private_addresses` also to own, loopback, private, carrier and example ones; to
// the others never.
bool may_connect(Scope scope, bool private_addresses);
// Would it be admitted if the policy said `private: true`?
constexpr bool is_private_scope(Scope scope) {
  return scope == Scope::own || scope == Scope::loopback || scope == Scope::private_use || scope == Scope::carrier ||
         scope == Scope::example;
}

}  // namespace cordon::egress
