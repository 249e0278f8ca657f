// SPDX-License-Identifier: Apache-2.0
// rollback: back to the version, and the review, from before the last update.

#include "app/update.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Rollback final : public Command {
 public:
  void declare(Options& options) override { policy_.declare(options); }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    const Result<app::RolledBack> back = app::roll_back(invocation.caller, *choice);
    if (!back) {
      return report(back.error());
    }
    print_err(text::cat("mcp-cordon: back from ", text::printable(back->from, 300), " to ",
                        text::printable(back->to, 300), '\n'));
    print_err(text::cat("mcp-cordon: a client's configuration that names ", text::printable(back->from, 300),
                        " does not start any more: write ", text::printable(back->to, 300),
                        " there, or no version (mcp-cordon inventory shows it)\n"));
    if (!back->installed) {
      print_err(text::cat("mcp-cordon: its files are gone; fetch them: mcp-cordon install ",
                          text::printable(policy_.spelled()), '\n'));
    }
    return kFine;
  }

 private:
  PolicyArgument policy_ = {};
};

}  // namespace

extern constinit const CommandEntry kRollbackCommand{"rollback", "go back to the version before the last update", false,
                                                     make_command<Rollback>};

}  // namespace cordon::cli
