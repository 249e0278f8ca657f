// SPDX-License-Identifier: Apache-2.0
// install: fetches the package of launch.source into the store.

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
    print_err(text::cat("mcp-cordon: next: ", app::review_command(*loaded), '\n'));
    return kFine;
  }

 private:
  PolicyArgument policy_ = {};
};

}  // namespace

extern constinit const CommandEntry kInstallCommand{"install", "fetch a server's package into its own store", false,
                                                    make_command<Install>};

}  // namespace cordon::cli
