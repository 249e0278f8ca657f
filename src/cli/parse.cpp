// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "base/text.hpp"

namespace cordon::cli {
namespace {

constexpr std::string_view kDescription =
    "Runs a local MCP server isolated, shows its client only what a person reviewed, and writes down what happened.";

// One subcommand that is being declared.
struct Declared {
  const CommandEntry* entry = nullptr;
  std::unique_ptr<Command> command = {};
  Options options = {};
  CLI::App* app = nullptr;
  std::deque<bool> given = {};           // per unsupported flag: stable addresses
  std::deque<std::string> ignored = {};  // values of unsupported options
  std::vector<std::pair<std::string, CLI::Option*>> unsupported = {};
};

void add_option(Declared& declared, const Option& option) {
  CLI::App& app = *declared.app;
  switch (option.kind) {
    case Option::Kind::flag:
      app.add_flag(option.name, *option.flag, option.help);
      return;
    case Option::Kind::value:
      app.add_option(option.name, *option.value, option.help)->type_name(option.takes);
      return;
    case Option::Kind::values:
      // One value each time, or it would take the positionals behind it.
      app.add_option(option.name, *option.values, option.help)->type_name(option.takes)->allow_extra_args(false);
      return;
    case Option::Kind::positional:
      app.add_option(option.name, *option.value, option.help)->type_name("");
      return;
    case Option::Kind::positionals:
      app.add_option(option.name, *option.values, option.help)->type_name("");
      return;
    case Option::Kind::unsupported_flag: {
      bool& target = declared.given.emplace_back(false);
      declared.unsupported.emplace_back(option.name, app.add_flag(option.name, target)->group(""));
      return;
    }
    case Option::Kind::unsupported_value: {
      std::string& target = declared.ignored.emplace_back();
      // Any number of values: the answer is the same, and it must not be a complaint about the count.
      declared.unsupported.emplace_back(option.name, app.add_option(option.name, target)->group(""));
      return;
    }
  }
}

void declare(CLI::App& root, Declared& declared) {
  declared.app = root.add_subcommand(std::string(declared.entry->name), std::string(declared.entry->summary));
  declared.command->declare(declared.options);
  for (const Option& option : declared.options.all()) {
    add_option(declared, option);
  }
  if (declared.entry->takes_command) {
    declared.app->footer("Words after -- are the server's command and its arguments.");
  }
}

Parsed usage(std::string text, std::string_view command) {
  Parsed out;
  out.exit_status = kUsage;
  out.err = text::cat("mcp-cordon: ", text::printable(text, 2000), "\nTry 'mcp-cordon ", command,
                      command.empty() ? "" : " ", "--help'.\n");
  return out;
}

// CLI11 offers no near misses; a mistyped subcommand deserves one.
std::string unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const CommandEntry* entry : commands()) {
    names.push_back(entry->name);
  }
  const std::optional<std::string_view> meant = text::nearest(word, names);
  return text::cat("there is no command '", word, "'", meant ? text::cat(" (did you mean '", *meant, "'?)") : "");
}

Parsed finish(Declared& declared, bool has_separator, std::vector<std::string> after) {
  for (const auto& [name, option] : declared.unsupported) {
    if (option->count() > 0) {
      return usage(text::cat(name, " is not supported by this version"), declared.entry->name);
    }
  }
  if (has_separator && !declared.entry->takes_command) {
    return usage(text::cat("'", declared.entry->name, "' takes no words after --"), declared.entry->name);
  }
  Parsed out;
  out.command = std::move(declared.command);
  out.has_separator = has_separator;
  out.after = std::move(after);
  return out;
}

}  // namespace

Parsed parse(std::span<const std::string> arguments, std::string_view version) {
  // CLI11 takes the first word after "--" as a positional, so what follows "--" is never shown to it.
  const auto separator = std::ranges::find(arguments, std::string("--"));
  const bool has_separator = separator != arguments.end();
  std::vector<std::string> before(arguments.begin(), separator);
  std::vector<std::string> after(has_separator ? separator + 1 : separator, arguments.end());

  if (!before.empty() && !before.front().starts_with('-') &&
      std::ranges::none_of(commands(), [&](const CommandEntry* entry) { return entry->name == before.front(); })) {
    return usage(unknown_command(before.front()), "");
  }

  CLI::App root{std::string(kDescription), "mcp-cordon"};
  root.set_version_flag("--version", text::cat("mcp-cordon ", version));
  root.require_subcommand(1);
  std::deque<Declared> all;
  for (const CommandEntry* entry : commands()) {
    Declared& declared = all.emplace_back();
    declared.entry = entry;
    declared.command = entry->make();
    declare(root, declared);
  }
  const auto chosen = [&all]() -> Declared* {
    const auto found = std::ranges::find_if(all, [](const Declared& one) { return one.app->parsed(); });
    return found == all.end() ? nullptr : &*found;
  };

  std::ranges::reverse(before);  // CLI11 takes a vector back to front
  try {
    root.parse(std::move(before));
  } catch (const CLI::CallForHelp&) {
    Parsed out;
    out.out = chosen() != nullptr ? chosen()->app->help("mcp-cordon") : root.help();
    return out;
  } catch (const CLI::CallForVersion&) {
    Parsed out;
    out.out = text::cat("mcp-cordon ", version, "\n");
    return out;
  } catch (const CLI::ParseError& error) {
    const Declared* command = chosen();
    // `run files node server.js`: the words are there, the two dashes are not.
    const auto is_word = [](const std::string& one) { return !one.starts_with('-'); };
    const bool no_separator = command != nullptr && command->entry->takes_command && !has_separator &&
                              dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr &&
                              std::ranges::any_of(command->app->remaining(), is_word);
    return usage(
        text::cat(error.what(), no_separator ? " (the server's command stands behind --: NAME -- COMMAND ...)" : ""),
        command != nullptr ? command->entry->name : "");
  }
  Declared* declared = chosen();
  CORDON_ASSERT(declared != nullptr);
  return finish(*declared, has_separator, std::move(after));
}

}  // namespace cordon::cli
