// SPDX-License-Identifier: Apache-2.0
// review: a person decides, item by item, what becomes part of the snapshot.

#include "app/capture.hpp"
#include "app/review_files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/install_talk.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"
#include "cli/review_talk.hpp"
#include "cli/terminal.hpp"

namespace cordon::cli {
namespace {

class ReviewCommand final : public Command {
 public:
  void declare(Options& options) override {
    policy_.declare(options);
    options.value("--candidate", "FILE", candidate_, "review this FILE of capture; nothing is started");
    options.flag("--accept-all", accept_all_, "accept everything without a person; recorded as unattended");
    options.value("--reviewer", "NAME", reviewer_, "who reviews (default: the account's name)");
    options.flag("--all", all_, "ask about every tool, also those that did not change");
    options.flag("--sign", sign_, "sign the snapshot with an SSH key");
    options.value("--key", "FILE", key_, "the key for --sign (default: the first of ~/.ssh/id_*)");
  }

  int execute(const Invocation& invocation) override {
    const std::optional<app::PolicyChoice> choice = policy_.choice();
    if (!choice) {
      return kUsage;
    }
    if (accept_all_ && (reviewer_.empty() || all_)) {
      return usage_error(all_ ? "--all and --accept-all exclude each other" : "--accept-all needs --reviewer NAME");
    }
    if (!key_.empty() && !sign_) {
      return usage_error("--key needs --sign");
    }
    // Before anything is started: without a terminal nobody could answer.
    std::optional<Terminal> terminal;
    if (!accept_all_) {
      Result<Terminal> opened =
          Terminal::open("a person reviews at a terminal; without one use --accept-all --reviewer NAME");
      if (!opened) {
        return report(opened.error());
      }
      terminal.emplace(std::move(*opened));
    }
    if (candidate_.empty()) {
      if (const Status ready = install_if_missing(invocation.caller, *choice); !ready) {
        return report(ready.error());
      }
    }
    Result<app::OpenReview> open =
        app::open_review({invocation.caller, *choice, invocation.after, candidate_, CORDON_VERSION},
                         all_ ? app::ReviewScope::everything : app::ReviewScope::differences);
    if (!open) {
      return report(open.error());
    }
    if (open->review.items().empty() && !open->must_write) {
      print_err("mcp-cordon: nothing to review: the catalog is the one of the snapshot\n");
      return sign_ ? sign(invocation, *open, open->digest) : kFine;
    }
    if (accept_all_) {
      open->review.accept_all_unattended();
    } else if (!talk_through(*terminal, invocation, *open)) {
      print_err("mcp-cordon: nothing was written\n");
      return kFine;
    }
    return write(invocation, *open);
  }

 private:
  int write(const Invocation& invocation, const app::OpenReview& open) const {
    const std::string reviewer = reviewer_.empty() ? invocation.caller.account : reviewer_;
    const Result<app::StoredSnapshot> stored = app::finish_review(invocation.caller, open, reviewer, accept_all_);
    if (!stored) {
      return report(stored.error());
    }
    print_err(text::cat("mcp-cordon: snapshot written to ", text::printable(stored->path), '\n'));
    if (accept_all_) {
      print_err("mcp-cordon: no tool of it has a class from a person; review --all sets them\n");
      if (!open.loaded.policy.catalog.accept_unattended) {
        print_err(
            "mcp-cordon: run refuses it until a person reviews it, or the policy says catalog.accept_unattended: "
            "true\n");
      }
    }
    if (!sign_ && !open.loaded.policy.catalog.trusted_keys.empty()) {
      print_err(
          "mcp-cordon: the policy wants a signature (catalog.trusted_keys); review --sign shows everything again and "
          "makes one\n");
    }
    return sign_ ? sign(invocation, open, stored->digest) : kFine;
  }

  int sign(const Invocation& invocation, const app::OpenReview& open, std::string_view digest) const {
    const Result<std::string> path = app::sign_snapshot(invocation.caller, open.loaded, key_, digest);
    if (!path) {
      return report(path.error());
    }
    print_err(text::cat("mcp-cordon: signature written to ", text::printable(*path), '\n'));
    return kFine;
  }

  PolicyArgument policy_ = {};
  std::string candidate_ = {};
  std::string reviewer_ = {};
  bool accept_all_ = false;
  bool all_ = false;
  bool sign_ = false;
  std::string key_ = {};
};

}  // namespace

extern constinit const CommandEntry kReviewCommand{"review", "decide what becomes part of a snapshot", true,
                                                   make_command<ReviewCommand>};

}  // namespace cordon::cli
