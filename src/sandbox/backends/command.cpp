// SPDX-License-Identifier: Apache-2.0
// command: a program that an organisation already isolates with. What it does is not known here, so everything is
// partial until a probe is recorded to have looked from inside, under this plan, on this boot. argv is the whole
// command line, made of the policy's template; see docs/formats/policy.md.
#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/confirmation.hpp"
#include "sandbox/plan_common.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "command";

// What is written in the policy and not handed on would be ignored without a word.
Status check_untold(const LaunchSpec& spec) {
  struct Untold {
    bool written = false;
    std::string_view requirement = {};
    std::string_view because = {};
  };
  const Limits& limits = spec.limits;
  const bool limited =
      limits.memory_bytes || limits.processes || limits.open_files || limits.file_size_bytes || limits.cpu_seconds;
  for (const Untold& untold : {Untold{!spec.mounts.empty(), "filesystem.read", "isolation.filesystem"},
                               Untold{!spec.deny.empty(), "filesystem.deny", "isolation.filesystem.deny"},
                               Untold{!spec.unix_sockets.empty(), "ipc.unix_sockets", "isolation.unix_sockets"},
                               Untold{limited, "limits", "isolation.limits"},
                               Untold{spec.proc_minimal, "filesystem.proc", "isolation.proc"}}) {
    if (untold.written) {
      return std::unexpected(to_error(
          {.backend = std::string(kName),
           .requirement = std::string(untold.requirement),
           .because = std::string(untold.because),
           .reason = "not_offered",
           .hint = text::cat("a template is not told of it: write it there, and take ", untold.because, " out")}));
    }
  }
  return {};
}

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  if (!spec.from_template) {
    return std::unexpected(refused(
        kName, {}, {.reason = "backend_missing", .hint = "write isolation.template: the program to start it with"}));
  }
  if (auto status = check_untold(spec); !status) {
    return std::unexpected(status.error());
  }
  auto plan = common_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  plan->hostname.clear();
  // Where the template's program starts; where the server does is the template's to say.
  plan->working_directory = std::string("/");
  plan->limits = {};
  plan->steps.outer = {Step::session, Step::descriptors};
  if (plan->switch_user) {
    plan->steps.outer.push_back(Step::identity);
  }
  plan->steps.server = {Step::server_session, Step::working_directory};
  Statements statements;
  for (const Detail& detail : details()) {
    if (detail.needed(spec)) {
      statements.lacks(
          detail.name, Strength::partial, "unconfirmed",
          text::cat("nobody has looked from inside since this machine was started: mcp-cordon probe, or take ",
                    guarantee_of(detail.name), " out of isolation.require"));
    }
  }
  apply_confirmation(statements, *plan, facts.confirmation, facts.boot_id);
  plan->guarantees = statements.complete(spec);
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_command;
constinit const Backend kBackend_command = {
    .name = kName, .choice = BackendChoice::command, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
