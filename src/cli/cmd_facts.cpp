// SPDX-License-Identifier: Apache-2.0
// facts: what a policy permits, as JSON, and the digest of command and isolation. Nothing is started.

#include "app/facts.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Facts final : public Command {
 public:
  void declare(Options& options) override { policy_.declare(options); }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    const Result<std::string> facts = app::facts_of({invocation.caller, *choice, invocation.after});
    if (!facts) {
      return report(facts.error());
    }
    print_out(*facts + '\n');
    return kFine;
  }

 private:
  PolicyArgument policy_ = {};
};

}  // namespace

extern constinit const CommandEntry kFactsCommand{"facts", "print what a policy permits, as JSON", true,
                                                  make_command<Facts>};

}  // namespace cordon::cli
