// SPDX-License-Identifier: Apache-2.0
#include "egress/rules.hpp"

#include <algorithm>

namespace cordon::egress {
namespace {

SniCheck check_of(policy::SniCheck check) {
  switch (check) {
    case policy::SniCheck::off:
      return SniCheck::off;
    case policy::SniCheck::flag:
      return SniCheck::flag;
    case policy::SniCheck::match:
      break;
  }
  return SniCheck::match;
}

Rule rule_of(const policy::HostGrant& grant) {
  Rule out;
  out.host = grant.host;
  if (grant.host.starts_with("*.")) {
    out.kind = HostKind::wildcard;
    out.host.erase(0, 2);
  } else if (ipv4_from_text(grant.host)) {
    out.kind = HostKind::address;
  }
  out.ports = grant.ports;
  std::ranges::sort(out.ports);
  out.private_addresses = grant.private_addresses;
  out.reason = grant.reason;
  out.line = grant.line;
  return out;
}

}  // namespace

Rules rules_of(const policy::Network& network) {
  Rules out;
  for (const policy::HostGrant& grant : network.allow) {
    out.allow.push_back(rule_of(grant));
  }
  out.sni = check_of(network.sni);
  out.mode = network.mode == policy::NetworkMode::proxy ? EgressMode::proxy : EgressMode::transparent;
  return out;
}

}  // namespace cordon::egress
