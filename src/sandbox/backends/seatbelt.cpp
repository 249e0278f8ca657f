// SPDX-License-Identifier: Apache-2.0
// seatbelt: macOS only, and untested: the profile is generated and compared as text, no machine has run it. On every
// other system it is refused.
#include "sandbox/seatbelt.hpp"
#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "seatbelt";
constexpr std::string_view kProgram = "/usr/bin/sandbox-exec";

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  if (!facts.seatbelt.works) {
    return std::unexpected(refused(kName, {}, facts.seatbelt));
  }
  auto plan = common_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  auto view = host_view(spec, facts, kName);
  if (!view) {
    return std::unexpected(view.error());
  }
  const auto profile = seatbelt_profile(*view);
  if (!profile) {
    return std::unexpected(profile.error());
  }
  plan->view = std::move(*view);
  plan->hostname.clear();
  Statements statements;
  for (const Detail& detail : details()) {
    if (detail.needed(spec)) {
      statements.lacks(detail.name, Strength::partial, "untested");
    }
  }
  plan->guarantees = statements.complete(spec);
  plan->tool = kProgram;
  plan->tool_arguments = {{.text = "-p"}, {.text = *profile}, {.text = "--"}};
  for (const std::string& word : plan->argv) {
    plan->tool_arguments.push_back({.text = word});
  }
  plan->steps.outer = {Step::session, Step::descriptors};
  plan->steps.server = {Step::server_session, Step::working_directory, Step::limits};
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_seatbelt;
constinit const Backend kBackend_seatbelt = {
    .name = kName, .choice = BackendChoice::seatbelt, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
