// SPDX-License-Identifier: Apache-2.0
// run: the proxy. Its stdout belongs to the protocol.

#include <unistd.h>

#include "app/run_server.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Run final : public Command {
 public:
  void declare(Options& options) override {
    policy_.declare(options);
    options.flag("--read-only", read_only_, "let only tools pass whose reviewed class is `read`");
    options.unsupported_value("--expect-facts");
    options.unsupported_value("--ceiling");
    options.unsupported_flag("--trace");
  }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    if (invocation.has_separator && invocation.after.empty()) {
      return usage_error("there is no command after --");
    }
    return app::run_server(
        {invocation.caller, *choice, invocation.after, read_only_, CORDON_VERSION, STDIN_FILENO, STDOUT_FILENO});
  }

 private:
  PolicyArgument policy_ = {};
  bool read_only_ = false;
};

}  // namespace

extern constinit const CommandEntry kRunCommand{"run", "stand between a client and a server (the proxy)", true,
                                                make_command<Run>};

}  // namespace cordon::cli
