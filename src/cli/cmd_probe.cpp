// SPDX-License-Identifier: Apache-2.0
// probe: tries a server's sandbox from inside, or lets the server itself try.

#include <unistd.h>

#include "app/probe.hpp"
#include "app/probe_through.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Probe final : public Command {
 public:
  void declare(Options& options) override {
    policy_.declare(options);
    options.value("--format", "FORMAT", format_, "text (default) or json");
    options.value("--through", "TOOL", tool_, "start the server and let this TOOL of it try");
    options.value("--argument", "POINTER", pointer_, "with --through: JSON pointer of the argument that is set");
    options.value("--arguments", "JSON", arguments_, "with --through: the other arguments, as a JSON object");
  }

  int execute(const Invocation& invocation) override {
    if (format_ != "text" && format_ != "json") {
      return usage_error(text::cat("there is no format '", format_, "': text or json"));
    }
    if (tool_.empty() != pointer_.empty() || (tool_.empty() && !arguments_.empty())) {
      return usage_error("--through TOOL and --argument POINTER go together, and --arguments with them");
    }
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    const Result<app::LoadedPolicy> loaded = app::load_policy(invocation.caller, *choice);
    if (!loaded) {
      return report(loaded.error());
    }
    const Result<app::ProbeReport> probed =
        tool_.empty() ? app::probe_policy({invocation.caller, *loaded, invocation.after})
                      : app::probe_through({invocation.caller, *loaded, invocation.after, CORDON_VERSION, tool_,
                                            pointer_, arguments_, [](const std::string& text) { print_err(text); }});
    if (!probed) {
      return report(probed.error());
    }
    print_out(format_ == "json" ? probed->json() + '\n' : probed->text(style_for(STDOUT_FILENO, invocation.caller)));
    return probed->found() ? kFinding : kFine;
  }

 private:
  PolicyArgument policy_ = {};
  std::string format_ = "text";
  std::string tool_ = {};
  std::string pointer_ = {};
  std::string arguments_ = {};
};

}  // namespace

extern constinit const CommandEntry kProbeCommand{"probe", "try a server's sandbox from inside", true,
                                                  make_command<Probe>};

}  // namespace cordon::cli
