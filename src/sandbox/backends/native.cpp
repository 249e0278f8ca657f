// SPDX-License-Identifier: Apache-2.0
// native: our own helper builds everything. The order of its steps is explained in docs/isolation.md.
#include "sandbox/backend.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "native";

PlanSteps steps_of(const Plan& plan) {
  PlanSteps steps;
  steps.outer = {Step::session, Step::descriptors};
  const std::vector<Step> places = place_steps(plan);
  steps.outer.insert(steps.outer.end(), places.begin(), places.end());
  if (plan.switch_user) {
    // Root opens what is granted, then stops being root before it touches a namespace.
    steps.outer.insert(steps.outer.end(), {Step::sources, Step::identity});
  } else {
    steps.init.push_back(Step::sources);
  }
  steps.outer.insert(steps.outer.end(), {Step::namespaces, Step::loopback});
  if (plan.network.hosts()) {
    steps.outer.push_back(Step::egress);
  }
  if (plan.network.doors.agent) {
    steps.outer.push_back(Step::process_namespace);
  }
  steps.init.insert(steps.init.end(), {Step::root, Step::view, Step::pivot, Step::hostname});
  steps.server = server_steps(plan);
  return steps;
}

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  if (!facts.namespaces.works) {
    return std::unexpected(refused(kName, {}, facts.namespaces));
  }
  auto plan = common_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  auto view = build_view(spec, facts);
  if (!view) {
    return std::unexpected(view.error());
  }
  plan->view = std::move(*view);
  plan->own_namespaces = true;
  plan->landlock_abi = facts.landlock_abi;
  choose_filter(*plan, spec, facts);
  plan->guarantees = isolated_statements(spec, facts, "our helper", plan->view).complete(spec);
  plan->steps = steps_of(*plan);
  choose_groups(*plan, spec, facts);
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_native;
constinit const Backend kBackend_native = {
    .name = kName, .choice = BackendChoice::native, .automatic = true, .plan = make_plan};

}  // namespace cordon::sandbox
