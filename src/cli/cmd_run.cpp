// SPDX-License-Identifier: Apache-2.0
// run: the proxy. Its stdout belongs to the protocol.

#include <unistd.h>

#include "app/run_server.hpp"
#include "base/text.hpp"
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
    options.values("--expect-facts", "SHA256", expected_facts_,
                   "start nothing unless the digest of the execution facts is this one");
    options.flag("--trace", trace_,
                 "for development: list what the server touches and is denied, and propose a policy");
  }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    if (invocation.has_separator && invocation.after.empty()) {
      return usage_error("there is no command after --");
    }
    std::string facts;
    for (const std::string& digest : expected_facts_) {
      const std::optional<std::string> expected = read_digest(digest);
      if (!expected || (!facts.empty() && facts != *expected)) {
        return usage_error("--expect-facts takes one digest, as mcp-cordon facts prints it");
      }
      facts = *expected;
    }
    return app::run_server({invocation.caller, *choice, invocation.after, read_only_, trace_, facts, CORDON_VERSION,
                            STDIN_FILENO, STDOUT_FILENO});
  }

 private:
  // "sha256:" may be left out.
  static std::optional<std::string> read_digest(std::string_view text) {
    constexpr std::string_view kScheme = "sha256:";
    if (text.starts_with(kScheme)) {
      text.remove_prefix(kScheme.size());
    }
    const std::string digits = text::lower_ascii(text);
    const bool fits = digits.size() == 64 && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
    return fits ? std::optional<std::string>(text::cat(kScheme, digits)) : std::nullopt;
  }

  PolicyArgument policy_ = {};
  std::vector<std::string> expected_facts_ = {};
  bool read_only_ = false;
  bool trace_ = false;
};

}  // namespace

extern constinit const CommandEntry kRunCommand{"run", "stand between a client and a server (the proxy)", true,
                                                make_command<Run>};

}  // namespace cordon::cli
