// SPDX-License-Identifier: Apache-2.0
// update: another version of a package, which counts once a review has accepted it.

#include <optional>

#include "app/update.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/install_talk.hpp"
#include "cli/output.hpp"
#include "cli/policy_argument.hpp"
#include "cli/review_talk.hpp"
#include "cli/terminal.hpp"

namespace cordon::cli {
namespace {

class Update final : public Command {
 public:
  void declare(Options& options) override {
    options.positionals("NAME", words_, "a policy's name, and the version to move to (default: the newest)");
    policy_.declare_file(options);
    policy_.declare_ceiling(options);
    options.flag("--accept-all", accept_all_, "accept everything without a person; recorded as unattended");
    options.value("--reviewer", "NAME", reviewer_, "who reviews (default: the account's name)");
  }

  int execute(const Invocation& invocation) override {
    const std::size_t names = policy_.has_file() ? 0 : 1;
    if (words_.size() < names || words_.size() > names + 1) {
      return usage_error("update wants NAME [VERSION], or --policy FILE [VERSION]");
    }
    if (accept_all_ && reviewer_.empty()) {
      return usage_error("--accept-all needs --reviewer NAME");
    }
    const std::string version = words_.size() > names ? words_.back() : std::string();
    const app::PolicyChoice choice{names == 0 ? "" : words_.front(), policy_.file(), policy_.ceilings()};
    if (const Status sensible = app::may_update(invocation.caller, choice); !sensible) {
      return report(sensible.error());
    }
    std::optional<Terminal> terminal;
    if (!accept_all_) {
      Result<Terminal> opened =
          Terminal::open("a person reviews at a terminal; without one use --accept-all --reviewer NAME");
      if (!opened) {
        return report(opened.error());
      }
      terminal.emplace(std::move(*opened));
    }
    Result<std::optional<app::OpenUpdate>> update =
        app::open_update({invocation.caller, choice, {}, {}, CORDON_VERSION}, version, progress_on_stderr());
    if (!update) {
      return report(update.error());
    }
    if (!*update) {
      print_err("mcp-cordon: that version is the present one\n");
      return kFine;
    }
    return decide(invocation, terminal, **update);
  }

 private:
  int decide(const Invocation& invocation, std::optional<Terminal>& terminal, app::OpenUpdate& update) const {
    print_err(text::cat("mcp-cordon: from ", text::printable(update.from, 300), " to ", text::printable(update.to, 300),
                        '\n'));
    if (accept_all_) {
      update.open.review.accept_all_unattended();
    } else if (!talk_through(*terminal, invocation, update.open)) {
      print_err("mcp-cordon: nothing was switched\n");
      return kFine;
    }
    const std::string reviewer = reviewer_.empty() ? invocation.caller.account : reviewer_;
    const Result<app::StoredSnapshot> stored = app::finish_update(invocation.caller, update, reviewer, accept_all_);
    if (!stored) {
      return report(stored.error());
    }
    print_err(text::cat("mcp-cordon: ", text::printable(update.to, 300), " counts now; snapshot written to ",
                        text::printable(stored->path), "\nmcp-cordon: to go back: mcp-cordon rollback ",
                        app::spelled_name(update.open.loaded), "\nmcp-cordon: a client's configuration that names ",
                        text::printable(update.from, 300), " does not start any more: write ",
                        text::printable(update.to, 300), " there, or no version (mcp-cordon inventory shows it)\n"));
    if (!update.open.loaded.policy.catalog.trusted_keys.empty()) {
      print_err("mcp-cordon: the policy wants a signature (catalog.trusted_keys); review --sign makes one\n");
    }
    return kFine;
  }

  PolicyArgument policy_ = {};
  std::vector<std::string> words_ = {};
  std::string reviewer_ = {};
  bool accept_all_ = false;
};

}  // namespace

extern constinit const CommandEntry kUpdateCommand{"update", "move a server's package to another version, by a review",
                                                   false, make_command<Update>};

}  // namespace cordon::cli
