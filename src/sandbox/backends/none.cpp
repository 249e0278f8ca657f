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
  Statements statements;
  for (const Detail& detail : details()) {
    if (detail.needed(spec)) {
      statements.lacks(detail.name, Strength::no, "backend_none");
    }
  }
  statements.enforced("environment.listed", "clean start").enforced("descriptors.standard", "clean start");
  // Without a user namespace of its own the count includes what else runs under that uid.
  statements.lacks("limits.processes", Strength::partial, "backend_none");
  say_limits(statements, spec, facts.groups);
  plan->guarantees = statements.complete(spec);
  plan->steps.outer = {Step::session, Step::descriptors};
  if (plan->switch_user) {
    plan->steps.outer.push_back(Step::identity);
  }
  choose_groups(*plan, spec, facts);
  plan->steps.server = {Step::server_session, Step::working_directory, Step::limits};
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_none;
constinit const Backend kBackend_none = {
    .name = kName, .choice = BackendChoice::none, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
