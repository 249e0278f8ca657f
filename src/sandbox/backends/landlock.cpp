// SPDX-License-Identifier: Apache-2.0
// landlock: for machines that give no namespaces. Nothing is hidden, things are only refused: one Landlock ruleset for
// files and TCP, the syscall filter for everything else that would reach across. Only when it is named.
#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/plan_common.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "landlock";
constexpr int kScopesAbi = 6;

PlanSteps steps_of(const Plan& plan) {
  PlanSteps steps;
  steps.outer = {Step::session, Step::descriptors};
  if (plan.switch_user) {
    steps.outer.push_back(Step::identity);
  }
  steps.server = server_steps(plan);
  return steps;
}

Statements statements(const LaunchSpec& spec, const HostFacts& facts, const Plan& plan) {
  Statements out = shared_statements(spec, facts, plan);
  // Landlock refuses to open. It does not keep anybody from asking for names, sizes, owners and times.
  out.lacks("filesystem.read", Strength::partial, "names_visible",
            "contents cannot be read, names, sizes and owners can be seen: use native, or take filesystem out of "
            "isolation.require");
  out.lacks("filesystem.proc", Strength::partial, "names_visible",
            "nothing of a process can be opened, its number and owner can be seen: use native, or take filesystem out "
            "of isolation.require");
  out.lacks("processes.own", Strength::partial, "names_visible",
            "numbers and owners of other processes can be seen: use native, or take processes out of "
            "isolation.require");
  if (plan.landlock_abi < kScopesAbi) {
    const std::string reason = text::cat("landlock_abi", plan.landlock_abi);
    const std::string hint =
        "other processes of the same uid can be signalled: a kernel of version 6.12 or later keeps signals in";
    out.lacks("processes.own", Strength::no, reason, hint);
    out.lacks("processes.end", Strength::partial, reason, hint);
  }
  return out;
}

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  auto plan = shared_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  plan->guarantees = statements(spec, facts, *plan).complete(spec);
  plan->steps = steps_of(*plan);
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_landlock;
constinit const Backend kBackend_landlock = {
    .name = kName, .choice = BackendChoice::landlock, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
