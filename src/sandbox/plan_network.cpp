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

// A proxy needs no more than a door that the server reaches and nothing beside it; these cannot have that either.
std::string_view why_no_door(std::string_view backend) {
  if (backend == "landlock") {
    return "Landlock limits the port of a connection and not whose it is, so not even mode: proxy can be held here; ";
  }
  if (backend == "firejail") {
    return "the namespace of firejail is root's, and no door can be opened there, for mode: proxy either; ";
  }
  return backend == "srt" ? "srt has a proxy of its own there, which asks neither our rules nor our log; " : "";
}

}  // namespace

Status choose_network(Plan& plan, const LaunchSpec& spec) {
  if (spec.network.empty()) {
    return {};
  }
  // Asked before anything is promised, so that no confirmation and no missing `require` lets it pass.
  if (std::ranges::find(kOpensDoors, plan.backend) == kOpensDoors.end()) {
    return std::unexpected(to_error(
        {.backend = plan.backend,
         .requirement = "network.hosts",
         .because = "isolation.network",
         .reason = "not_offered",
         .hint = text::cat(why_no_door(plan.backend), "use native, bubblewrap or podman, or write network: none")}));
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
