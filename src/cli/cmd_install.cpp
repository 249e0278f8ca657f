// SPDX-License-Identifier: Apache-2.0
// install: fetches the package of launch.source into the store.

#include "app/package_launch.hpp"
#include "app/session_context.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/install_talk.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Install final : public Command {
 public:
  void declare(Options& options) override { policy_.declare(options); }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    const Result<app::LoadedPolicy> loaded = app::load_policy(invocation.caller, *choice);
    if (!loaded) {
      return report(loaded.error());
    }
    if (!loaded->policy.launch.source) {
      return report(Error{Errc::policy_invalid, "the policy names no launch.source, so there is nothing to install",
                          loaded->location.path, "write launch.source: {npm: \"pkg@1.2.3\"}"});
    }
    if (const Status done = install_and_record(invocation.caller, *loaded); !done) {
      return report(done.error());
    }
    const bool reviewed = is_reviewed(invocation.caller, *choice);
    print_err(text::cat("mcp-cordon: ",
                        reviewed
                            ? text::cat("this package is reviewed; next: mcp-cordon run ", app::spelled_name(*loaded))
                            : text::cat("next: ", app::review_command(*loaded)),
                        '\n'));
    return kFine;
  }

 private:
  // As the files are now: a record was written, and perhaps a version into the policy.
  static bool is_reviewed(const app::Caller& caller, const app::PolicyChoice& choice) {
    const Result<app::LoadedPolicy> loaded = app::load_policy(caller, choice);
    if (!loaded) {
      return false;
    }
    const auto found = app::load_snapshot(caller, *loaded);
    const auto record = app::load_record(caller, *loaded);
    return found && app::admit_snapshot(*loaded, *found) && record && *record &&
           found->snapshot->launch.package == app::package_pin(**record);
  }

  PolicyArgument policy_ = {};
};

}  // namespace

extern constinit const CommandEntry kInstallCommand{"install", "fetch a server's package into its own store", false,
                                                    make_command<Install>};

}  // namespace cordon::cli
