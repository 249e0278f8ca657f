// SPDX-License-Identifier: Apache-2.0
// none: no isolation. Only by name and with a reason; what is left is a clean environment, clean descriptors, resource
// limits and an orderly end.
#include "sandbox/backend.hpp"
#include "sandbox/plan_common.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "none";

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  if (spec.none_reason.empty()) {
    return fail(Errc::policy_invalid, "backend 'none' needs a reason", "isolation.reason",
                "say why this server runs without isolation");
  }
  auto plan = common_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  plan->none_reason = spec.none_reason;
  if (spec.cwd.empty()) {
    plan->working_directory = spec.home_source.empty() ? "/" : spec.home_source;
  }
  for (const std::string_view guarantee : kGuarantees) {
    const bool kept = guarantee == "environment" || guarantee == "descriptors" || guarantee == "limits";
    plan->guarantees.push_back({.name = std::string(guarantee),
                                .strength = kept ? Strength::enforced : Strength::no,
                                .reason = kept ? "clean start" : "backend_none"});
  }
  plan->steps.outer = {Step::session, Step::descriptors};
  if (plan->switch_user) {
    plan->steps.outer.push_back(Step::identity);
  }
  plan->steps.server = {Step::server_session, Step::working_directory, Step::limits};
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_none;
constinit const Backend kBackend_none = {
    .name = kName, .choice = BackendChoice::none, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
