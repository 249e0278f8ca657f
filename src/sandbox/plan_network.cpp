// SPDX-License-Identifier: Apache-2.0
// What a plan says about the hosts that a server may reach.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/plan_common.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::array<std::string_view, 4> kOpensDoors = {"native", "bubblewrap", "podman", "docker"};

bool has_wildcard(const egress::Rules& rules) {
  return std::ranges::any_of(rules.allow,
                             [](const egress::Rule& rule) { return rule.kind == egress::HostKind::wildcard; });
}

// One of them is enough to make it partial; the reason names all.
std::string weaker(const egress::Rules& rules) {
  std::string reasons = has_wildcard(rules) ? "wildcard" : "";
  if (rules.sni != egress::SniCheck::match) {
    reasons += text::cat(reasons.empty() ? "" : ", ", "sni_", egress::name(rules.sni));
  }
  return reasons;
}

}  // namespace

Status choose_network(Plan& plan, const LaunchSpec& spec) {
  if (spec.network.empty()) {
    return {};
  }
  // Asked before anything is promised, so that no confirmation and no missing `require` lets it pass.
  if (std::ranges::find(kOpensDoors, plan.backend) == kOpensDoors.end()) {
    return std::unexpected(to_error({.backend = plan.backend,
                                     .requirement = "network.hosts",
                                     .because = "isolation.network",
                                     .reason = "not_offered",
                                     .hint = "use native, bubblewrap or podman, or write network: none"}));
  }
  auto doors = egress::plan_doors(spec.network);
  if (!doors) {
    return std::unexpected(doors.error());
  }
  plan.network = {.rules = spec.network, .doors = std::move(*doors)};
  return {};
}

void say_network(Statements& out, const LaunchSpec& spec) {
  if (spec.network.empty()) {
    return;
  }
  if (spec.network.mode != egress::EgressMode::transparent) {
    // The policy asks for no more: guarantee.cpp.
    out.lacks("network.hosts", Strength::partial, "proxy");
  } else {
    out.enforced("network.hosts", "sockets in the namespace that are answered from outside");
  }
  const std::string reasons = weaker(spec.network);
  if (reasons.empty()) {
    out.enforced("network.names", spec.network.mode == egress::EgressMode::transparent
                                      ? "our answers to DNS, and the names in TLS and HTTP"
                                      : "what the proxy is asked for, and the names in TLS and HTTP");
  } else {
    out.lacks("network.names", Strength::partial, reasons);
  }
}

}  // namespace cordon::sandbox
