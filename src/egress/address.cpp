// SPDX-License-Identifier: Apache-2.0
#include "egress/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <vector>

namespace cordon::egress {
namespace {

struct Network {
  IpAddress first = {};
  int bits = 0;
  Scope scope = Scope::global;
};

consteval Network v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, int bits, Scope scope) {
  Network out;
  out.first.bytes = {a, b, c, d};
  out.bits = bits;
  out.scope = scope;
  return out;
}

// The first four groups, and the last one.
consteval Network v6(std::array<std::uint16_t, 4> groups, std::uint16_t last, int bits, Scope scope) {
  Network out;
  out.first.v6 = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    out.first.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    out.first.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  out.first.bytes[14] = static_cast<std::uint8_t>(last >> 8);
  out.first.bytes[15] = static_cast<std::uint8_t>(last & 0xff);
  out.bits = bits;
  out.scope = scope;
  return out;
}

// The first that fits decides. Sources: the IANA registries of special-purpose addresses, and the documentation of the
// clouds for what they call metadata.
constexpr std::array kNetworks = {
    v4(169, 254, 169, 254, 32, Scope::metadata),  // most clouds
    v4(169, 254, 170, 2, 32, Scope::metadata),    // tasks of AWS ECS
    v4(169, 254, 170, 23, 32, Scope::metadata),   // pods of AWS EKS
    v4(100, 100, 100, 200, 32, Scope::metadata),  // Alibaba
    v4(168, 63, 129, 16, 32, Scope::metadata),    // Azure's wire server, a global address
    v4(192, 0, 0, 192, 32, Scope::metadata),      // Oracle, older
    v4(0, 0, 0, 0, 8, Scope::unspecified),
    v4(10, 0, 0, 0, 8, Scope::private_use),
    v4(100, 64, 0, 0, 10, Scope::carrier),
    v4(127, 0, 0, 0, 8, Scope::loopback),
    v4(169, 254, 0, 0, 16, Scope::link_local),
    v4(172, 16, 0, 0, 12, Scope::private_use),
    v4(192, 0, 0, 0, 24, Scope::reserved),
    v4(192, 0, 2, 0, 24, Scope::example),
    v4(192, 88, 99, 0, 24, Scope::reserved),
    v4(192, 168, 0, 0, 16, Scope::private_use),
    v4(198, 18, 0, 0, 15, Scope::benchmark),
    v4(198, 51, 100, 0, 24, Scope::example),
    v4(203, 0, 113, 0, 24, Scope::example),
    v4(224, 0, 0, 0, 4, Scope::multicast),
    v4(255, 255, 255, 255, 32, Scope::broadcast),
    v4(240, 0, 0, 0, 4, Scope::reserved),
    v4(0, 0, 0, 0, 0, Scope::global),
    v6({0xfd00, 0x0ec2, 0, 0}, 0x254, 128, Scope::metadata),  // AWS
    v6({0xfd20, 0x00ce, 0, 0}, 0x254, 128, Scope::metadata),  // Google
    v6({0, 0, 0, 0}, 0, 128, Scope::unspecified),
    v6({0, 0, 0, 0}, 1, 128, Scope::loopback),
    v6({0, 0, 0, 0}, 0, 64, Scope::embedded),            // ::/96, ::ffff:0:0/96, ::ffff:0:0:0/96
    v6({0x0064, 0xff9b, 1, 0}, 0, 48, Scope::embedded),  // NAT64 of somebody's own
    v6({0xfc00, 0, 0, 0}, 0, 7, Scope::private_use),
    v6({0xfe80, 0, 0, 0}, 0, 10, Scope::link_local),
    v6({0xfec0, 0, 0, 0}, 0, 10, Scope::private_use),
    v6({0xff00, 0, 0, 0}, 0, 8, Scope::multicast),
    v6({0x2001, 0, 0, 0}, 0, 32, Scope::embedded),  // Teredo
    v6({0x2001, 0, 0, 0}, 0, 23, Scope::reserved),
    v6({0x2001, 0x0db8, 0, 0}, 0, 32, Scope::example),
    v6({0x2002, 0, 0, 0}, 0, 16, Scope::embedded),  // 6to4
    v6({0x3fff, 0, 0, 0}, 0, 20, Scope::example),
    v6({0x2000, 0, 0, 0}, 0, 3, Scope::global),
    v6({0, 0, 0, 0}, 0, 0, Scope::reserved),  // nothing else is routed
};

bool is_in(const IpAddress& address, const Network& network) {
  if (address.v6 != network.first.v6) {
    return false;
  }
  const auto whole = static_cast<std::size_t>(network.bits / 8);
  const int rest = network.bits % 8;
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  network.first.bytes.begin())) {
    return false;
  }
  return rest == 0 || ((address.bytes[whole] ^ network.first.bytes[whole]) >> (8 - rest)) == 0;
}

bool is_nat64(const IpAddress& address) {
  constexpr std::array<std::uint8_t, 12> kPrefix = {0x00, 0x64, 0xff, 0x9b};
  return address.v6 && std::equal(kPrefix.begin(), kPrefix.end(), address.bytes.begin());
}

}  // namespace

IpAddress ip_address(Ipv4 address) {
  IpAddress out;
  for (std::size_t i = 0; i < 4; ++i) {
    out.bytes[i] = static_cast<std::uint8_t>(address.value >> (24 - 8 * i));
  }
  return out;
}

std::string to_string(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  return ::inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
}

std::optional<IpAddress> ip_address_from_text(std::string_view text) {
  if (const auto v4_address = ipv4_from_text(text)) {
    return ip_address(*v4_address);
  }
  IpAddress out;
  out.v6 = true;
  const std::string zero_terminated(text);
  if (text.find('\0') != std::string_view::npos ||
      ::inet_pton(AF_INET6, zero_terminated.c_str(), out.bytes.data()) != 1) {
    return std::nullopt;
  }
  return out;
}

std::string_view name(Scope scope) {
  switch (scope) {
    case Scope::global:
      return "global";
    case Scope::own:
      return "own";
    case Scope::loopback:
      return "loopback";
    case Scope::private_use:
      return "private";
    case Scope::carrier:
      return "carrier";
    case Scope::link_local:
      return "link_local";
    case Scope::metadata:
      return "metadata";
    case Scope::multicast:
      return "multicast";
    case Scope::broadcast:
      return "broadcast";
    case Scope::unspecified:
      return "unspecified";
    case Scope::benchmark:
      return "benchmark";
    case Scope::embedded:
      return "embedded";
    case Scope::example:
      return "example";
    case Scope::reserved:
      return "reserved";
  }
  return "";
}

Scope scope_of(const IpAddress& address, std::span<const IpAddress> own) {
  if (is_nat64(address)) {
    IpAddress inner;
    std::copy_n(address.bytes.begin() + 12, 4, inner.bytes.begin());
    return scope_of(inner, own);
  }
  Scope scope = Scope::reserved;
  for (const Network& network : kNetworks) {
    if (is_in(address, network)) {
      scope = network.scope;
      break;
    }
  }
  const bool is_own = std::ranges::find(own, address) != own.end();
  // A host whose own address is a link-local one gains nothing by that.
  const bool can_be_own =
      scope == Scope::global || scope == Scope::private_use || scope == Scope::carrier || scope == Scope::example;
  return is_own && can_be_own ? Scope::own : scope;
}

bool may_connect(Scope scope, bool private_addresses) {
  return scope == Scope::global || (private_addresses && is_private_scope(scope));
}

}  // namespace cordon::egress
