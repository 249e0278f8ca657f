// SPDX-License-Identifier: Apache-2.0
// effects: the effect class proposed for each tool, with reasons.

#include <unistd.h>

#include "app/propose_effects.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Effects final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("NAME|FILE", word_, "a policy's NAME, or a catalog file (with a / or ending in .json)");
    policy_.declare_file(options);
    options.value("--format", "FORMAT", format_, "text (default) or json");
    policy_.declare_ceiling(options);
  }

  int execute(const Invocation& invocation) override {
    if (format_ != "text" && format_ != "json") {
      return usage_error(text::cat("--format is text or json, not '", format_, "'"));
    }
    if (word_.empty() == !policy_.has_file()) {
      return usage_error("give a policy's NAME, --policy FILE, or a catalog file");
    }
    const bool file = app::is_catalog_path(word_);
    if (file && !policy_.ceilings().empty()) {
      return usage_error("a file is read without starting anything, so there is no --ceiling");
    }
    const Result<std::string> text =
        app::propose_effects({.caller = invocation.caller,
                              .choice = {file ? "" : word_, policy_.file(), policy_.ceilings()},
                              .file = file ? word_ : "",
                              .version = CORDON_VERSION,
                              .format = format_,
                              .style = style_for(STDOUT_FILENO, invocation.caller),
                              .width = columns_of(STDOUT_FILENO)});
    if (!text) {
      return report(text.error());
    }
    print_out(*text);
    return kFine;
  }

 private:
  PolicyArgument policy_ = {};
  std::string word_ = {};
  std::string format_ = "text";
};

}  // namespace

extern constinit const CommandEntry kEffectsCommand{"effects", "propose an effect class for each tool", false,
                                                    make_command<Effects>};

}  // namespace cordon::cli
