// SPDX-License-Identifier: Apache-2.0
// approve: a person decides about calls that wait, at a terminal that neither the server nor the model has.

#include <algorithm>

#include "app/approvals.hpp"
#include "app/approve_dialog.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "run/loop.hpp"

namespace cordon::cli {
namespace {

using Outcome = app::ApproveDialog::Outcome;

class Approve final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ID", id_, "the call, as `run` names it on stderr (default: every call that waits)");
  }

  int execute(const Invocation& invocation) override {
    // Before anything is read: without a terminal nobody could answer.
    Result<Terminal> terminal = Terminal::open("decide at a terminal: neither a server nor a model has one");
    if (!terminal) {
      return report(terminal.error());
    }
    Result<std::vector<app::WaitingCall>> calls = app::waiting_calls(invocation.caller, run::monotonic_now());
    if (!calls) {
      return report(calls.error());
    }
    if (!id_.empty()) {
      std::erase_if(*calls, [&](const app::WaitingCall& call) { return call.id != id_; });
    }
    if (calls->empty() && !id_.empty()) {
      return report({Errc::confirmation_unavailable,
                     text::cat("no call ", text::printable(id_, 64), " waits"),
                     {},
                     "it may have ended with its time; mcp-cordon approve lists what waits"});
    }
    if (calls->empty()) {
      print_err("mcp-cordon: no call waits for a person's word\n");
    }
    int status = kFine;
    for (std::size_t i = 0; i < calls->size(); ++i) {
      const Outcome outcome = ask(*terminal, invocation, (*calls)[i], {i + 1, calls->size()});
      if (outcome == Outcome::quit) {
        break;
      }
      status = std::max(status, carry_out(invocation.caller, (*calls)[i], outcome));
    }
    return status;
  }

 private:
  static Outcome ask(Terminal& terminal, const Invocation& invocation, const app::WaitingCall& call,
                     app::ApproveDialog::Place place) {
    const std::string word = new_word();
    if (word.empty()) {
      print_err("mcp-cordon: the kernel gives no random numbers, and so there is no word to ask for\n");
      return Outcome::quit;
    }
    app::ApproveDialog dialog(call, place, style_for(terminal.fd(), invocation.caller), word);
    terminal.drop_typed_ahead();
    while (dialog.outcome() == Outcome::open) {
      terminal.show(dialog.text(run::monotonic_now()));
      const std::optional<std::string> line = terminal.line();
      if (line) {
        dialog.answer(*line);
      } else {
        dialog.end();
      }
    }
    return dialog.outcome();
  }

  static int carry_out(const app::Caller& caller, const app::WaitingCall& call, Outcome outcome) {
    if (outcome == Outcome::leave) {
      return kFine;
    }
    const bool allow = outcome == Outcome::allow;
    const Status decided = app::decide_call(caller, call, allow ? app::Approval::allow : app::Approval::refuse);
    if (!decided) {
      return report(decided.error());
    }
    print_err(text::cat("mcp-cordon: ", text::printable(call.id, 64), allow ? " was allowed\n" : " was refused\n"));
    return kFine;
  }

  std::string id_ = {};
};

}  // namespace

extern constinit const CommandEntry kApproveCommand{"approve", "decide about calls that wait for a person", false,
                                                    make_command<Approve>};

}  // namespace cordon::cli
