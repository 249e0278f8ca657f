// SPDX-License-Identifier: Apache-2.0
// init: a first policy for a command.

#include "app/init.hpp"
#include "app/wrap_names.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace cordon::cli {
namespace {

class InitCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("NAME", name_, "name of the new policy");
    options.values("--env", "NAME", environment_, "an environment variable that the client's config sets");
    options.flag("--dry-run", dry_run_, "print the policy, and write nothing");
  }

  int execute(const Invocation& invocation) override {
    if (name_.empty() || invocation.after.empty()) {
      return usage_error("init needs NAME -- COMMAND [ARGUMENT]...");
    }
    const app::InitRequest request{name_, invocation.after, environment_, {}, {}};
    if (const Status absolute = app::refuse_relative_files(request.command); !absolute) {
      return report(absolute.error());
    }
    const Result<app::NewPolicy> policy = app::prepare_policy(invocation.caller, request);
    if (!policy) {
      return report(policy.error());
    }
    for (const std::string& warning : policy->warnings) {
      print_err(text::cat("mcp-cordon: ", warning, '\n'));
    }
    if (dry_run_) {
      print_out(policy->text);
      return kFine;
    }
    if (!app::name_is_free(invocation.caller, name_, request.command)) {
      return taken(invocation, request);
    }
    if (const Status stored = app::store_policy(invocation.caller, *policy); !stored) {
      return report(stored.error());
    }
    print_err(text::cat("mcp-cordon: policy written to ", text::printable(policy->path), '\n',
                        "mcp-cordon: next: mcp-cordon review ", name_, '\n'));
    return kFine;
  }

 private:
  int taken(const Invocation& invocation, const app::InitRequest& request) const {
    const app::PolicyMatch match = app::match_policy(invocation.caller, name_, request.command);
    if (match.fit == app::PolicyFit::same) {
      print_err(
          text::cat("mcp-cordon: the policy '", name_, "' is there already, for this command; it stays as it is\n"));
      return kFine;
    }
    return report(
        {Errc::policy_invalid,
         text::cat("there is a policy '", name_, "' already, and it ",
                   match.detail.empty() ? "is for another command" : match.detail),
         match.path.empty() ? text::cat(invocation.caller.config_folder(), "/policies/", name_, ".yaml") : match.path,
         "take another name, or edit or remove that file"});
  }

  std::string name_ = {};
  std::vector<std::string> environment_ = {};
  bool dry_run_ = false;
};

}  // namespace

extern constinit const CommandEntry kInitCommand{"init", "write a first policy for a command", true,
                                                 make_command<InitCommand>};

}  // namespace cordon::cli
