// SPDX-License-Identifier: Apache-2.0
#include "cli/wrap_dialog.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "app/paths.hpp"
#include "app/wrap_report.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"

namespace cordon::cli {
namespace {

using app::Direction;

enum class Answer { yes, no, rest, none, quit };

std::string help_for(Direction direction) {
  const std::string_view verb = direction == Direction::wrap ? "wrap" : "unwrap";
  return text::cat(
      "  y  ", verb, " this one\n  n  leave this one alone\n  a  ", verb,
      " this one and all that follow, seen or not\n  d  leave this one and all that follow alone; what was "
      "agreed to is written\n  q  quit: write nothing, also of what was agreed to\n  ?  show this\n");
}

// At the terminal, whatever stdin is.
Answer ask(Terminal& terminal, Direction direction) {
  while (true) {
    terminal.show(text::cat(direction == Direction::wrap ? "Wrap" : "Unwrap", " it? [y,n,a,d,q,?] "));
    const std::optional<std::string> line = terminal.line();
    if (!line || *line == "q" || *line == "quit") {
      return Answer::quit;
    }
    if (*line == "y" || *line == "yes") {
      return Answer::yes;
    }
    if (*line == "n" || *line == "no") {
      return Answer::no;
    }
    if (*line == "a" || *line == "all") {
      return Answer::rest;
    }
    if (*line == "d") {
      return Answer::none;
    }
    if (*line != "?" && *line != "h" && *line != "help" && !line->empty()) {
      terminal.show(text::cat("'", text::printable(*line, 64), "' is no answer here:\n"));
    }
    terminal.show(help_for(direction));
  }
}

// The steps that a person agrees to; nothing when the dialog was broken off.
std::optional<std::vector<std::size_t>> converse(Terminal& terminal, const app::WrapPlan& plan, Direction direction,
                                                 app::Style style) {
  std::vector<std::size_t> agreed;
  bool rest = false;
  terminal.drop_typed_ahead();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    terminal.show(app::show_step(plan, plan.steps[i], direction, style));
    const Answer answer = rest ? Answer::yes : ask(terminal, direction);
    if (answer == Answer::quit) {
      return std::nullopt;
    }
    if (answer == Answer::none) {
      break;
    }
    rest = rest || answer == Answer::rest;
    if (answer != Answer::no) {
      agreed.push_back(i);
    }
  }
  return agreed;
}

void say_done(const app::WrapOutcome& outcome, Direction direction) {
  for (const std::string& policy : outcome.policies) {
    print_err(text::cat("mcp-cordon: new policy ", text::printable(policy), '\n'));
  }
  for (const app::WrittenFile& file : outcome.files) {
    print_err(text::cat("mcp-cordon: ", text::printable(file.path), ": ", file.entries,
                        direction == Direction::wrap ? " wrapped" : " unwrapped",
                        "; as it was: ", text::printable(file.backup), '\n'));
  }
  if (direction == Direction::wrap && !outcome.policies.empty()) {
    print_err(
        text::cat("mcp-cordon: a server answers no call before its tools are reviewed; next, and then restart the ",
                  "client:\n"));
    for (const std::string& policy : outcome.policies) {
      const std::string file = app::file_name_of(policy);
      print_err(text::cat("  mcp-cordon review ", file.substr(0, file.rfind('.')), '\n'));
    }
  }
}

}  // namespace

void WrapDialog::declare(Options& options) {
  const bool wrap = direction_ == Direction::wrap;
  options.values("--client", "ID", clients_, "only configs of this client (see inventory)");
  options.values("--server", "NAME", servers_, "only the server of this name in a config");
  options.flag("--all", all_, "every server of every client that is found");
  options.flag("--yes", yes_, wrap ? "do not ask; needs --client, --server or --all" : "do not ask");
  options.flag("--dry-run", dry_run_, "show what would change, and change nothing");
  if (wrap) {
    options.flag("--check", check_, "only tell which servers are not wrapped; exit status 1 if there is one");
  }
}

int WrapDialog::execute(const Invocation& invocation) {
  const bool chosen = all_ || !clients_.empty() || !servers_.empty();
  if (all_ && (!clients_.empty() || !servers_.empty())) {
    return usage_error("--all excludes --client and --server");
  }
  if (yes_ && !chosen) {
    return usage_error("--yes needs --client, --server or --all: nobody would see what is changed");
  }
  if ((check_ && (yes_ || dry_run_)) || (yes_ && dry_run_)) {
    return usage_error("--check, --yes and --dry-run exclude each other");
  }
  std::vector<app::ConfigFile> files = app::find_configs(app::folders_of(invocation.caller));
  const std::vector<std::string> unknown = app::unknown_selections(files, selection());
  if (!unknown.empty()) {
    return usage_error(unknown.front());
  }
  const app::WrapPlan plan = direction_ == Direction::wrap
                                 ? app::plan_wrap(invocation.caller, std::move(files), selection())
                                 : app::plan_unwrap(invocation.caller, std::move(files), selection());
  return check_ ? check(plan) : change(invocation, plan);
}

int WrapDialog::check(const app::WrapPlan& plan) const {
  for (const app::WrapStep& step : plan.steps) {
    const app::ConfigFile& file = plan.files[step.file];
    print_out(text::cat(text::printable(file.path, 4096), ':',
                        clients::place(file.text, file.entries[step.entry].offset), ": server '",
                        text::printable(file.entries[step.entry].name, 300), "' is not wrapped\n"));
  }
  bool failed = false;
  for (const app::Untouched& one : plan.untouched) {
    if (one.failed) {
      failed = true;
      print_out(app::show_untouched(plan, one));
    }
  }
  return plan.steps.empty() && !failed ? kFine : kFinding;
}

int WrapDialog::change(const Invocation& invocation, const app::WrapPlan& plan) {
  bool failed = false;
  for (const app::Untouched& one : plan.untouched) {
    failed = failed || one.failed;
    print_err(text::cat("mcp-cordon: ", app::show_untouched(plan, one)));
  }
  const int fine = failed ? kFinding : kFine;
  if (plan.steps.empty()) {
    print_err("mcp-cordon: nothing to change\n");
    return fine;
  }
  std::vector<std::size_t> agreed;
  if (dry_run_ || yes_) {
    const app::Style style = style_for(STDOUT_FILENO, invocation.caller);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      print_out(app::show_step(plan, plan.steps[i], direction_, style));
      agreed.push_back(i);
    }
    if (dry_run_) {
      return fine;
    }
  } else {
    Result<Terminal> terminal =
        Terminal::open("a person agrees at a terminal; without one use --yes, or --dry-run to look");
    if (!terminal) {
      return report(terminal.error());
    }
    const auto answers = converse(*terminal, plan, direction_, style_for(terminal->fd(), invocation.caller));
    if (!answers || answers->empty()) {
      print_err("mcp-cordon: nothing was written\n");
      return fine;
    }
    agreed = *answers;
  }
  const app::WrapOutcome outcome = app::carry_out(invocation.caller, plan, agreed, direction_);
  say_done(outcome, direction_);
  for (const Error& error : outcome.errors) {
    report(error);
  }
  return outcome.errors.empty() ? fine : exit_status(outcome.errors.front().code);
}

}  // namespace cordon::cli
