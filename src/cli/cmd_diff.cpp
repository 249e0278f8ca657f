// SPDX-License-Identifier: Apache-2.0
// diff: snapshot against live, or any two catalog files.

#include <unistd.h>

#include "app/capture.hpp"
#include "app/compare_catalogs.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"

namespace cordon::cli {
namespace {

class Diff final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("NAME|OLD NEW", words_, "a policy's NAME, or two catalog files");
    policy_.declare_file(options);
    options.value("--format", "FORMAT", format_, "text (default), markdown, json, sarif, junit or html");
    options.flag("--exit-code", exit_code_, "end with 1 when there is drift");
    policy_.declare_ceiling(options);
  }

  int execute(const Invocation& invocation) override {
    if (const int status = check_words(invocation); status != kFine) {
      return status;
    }
    const Result<catalog::Diff> diff =
        words_.size() == 2 ? app::compare_files(words_[0], words_[1])
                           : app::compare_live({invocation.caller,
                                                {words_.empty() ? "" : words_[0], policy_.file(), policy_.ceilings()},
                                                invocation.after,
                                                CORDON_VERSION});
    if (!diff) {
      return report(diff.error());
    }
    print_out(app::render(*diff, format_, style_for(STDOUT_FILENO, invocation.caller),
                          {.width = columns_of(STDOUT_FILENO), .artifact = words_.size() == 2 ? words_[1] : ""}));
    return exit_code_ && diff->drifted() ? kFinding : kFine;
  }

 private:
  int check_words(const Invocation& invocation) const {
    if (!app::knows_format(format_)) {
      return usage_error(text::cat("--format is text, markdown, json, sarif, junit or html, not '", format_, "'"));
    }
    if (words_.size() + (policy_.has_file() ? 1 : 0) == 0) {
      return usage_error("give a policy's NAME, --policy FILE, or two catalog files");
    }
    if (words_.size() > 2 || (policy_.has_file() && !words_.empty())) {
      return usage_error("give one policy, or two catalog files");
    }
    if (words_.size() == 2 && !policy_.ceilings().empty()) {
      return usage_error("two files are compared without starting anything, so there is no --ceiling");
    }
    if (words_.size() == 2 && invocation.has_separator) {
      return usage_error("two files are compared without starting anything, so there is no command after --");
    }
    return kFine;
  }

  PolicyArgument policy_ = {};
  std::vector<std::string> words_ = {};
  std::string format_ = "text";
  bool exit_code_ = false;
};

}  // namespace

extern constinit const CommandEntry kDiffCommand{"diff", "show how a live catalog differs from its snapshot", true,
                                                 make_command<Diff>};

}  // namespace cordon::cli
