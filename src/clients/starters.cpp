// SPDX-License-Identifier: Apache-2.0
#include "clients/starters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cordon::clients {
namespace {

using std::string_view;
using Words = std::vector<std::string>;

bool is_one_of(string_view word, std::span<const string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// A program whose options change how the other one runs, and not what it is.
struct Starter {
  string_view program = {};
  std::span<const string_view> leading = {};   // one of these words comes first; empty: none does
  std::span<const string_view> values = {};    // options that take the next word, or the rest of their own
  std::span<const string_view> switches = {};  // options that take none
  bool dashes = false;                         // "--" has to stand before the other program
};

constexpr auto kExec = std::to_array<string_view>({"exec"});
constexpr auto kExecOrX = std::to_array<string_view>({"exec", "x"});
constexpr auto kRun = std::to_array<string_view>({"run"});
constexpr auto kNice = std::to_array<string_view>({"-n", "--adjustment"});
constexpr auto kIonice = std::to_array<string_view>({"-c", "--class", "-n", "--classdata"});
constexpr auto kIoniceSwitches = std::to_array<string_view>({"-t", "--ignore"});
constexpr auto kSetsid = std::to_array<string_view>({"-w", "--wait"});
constexpr auto kStdbuf = std::to_array<string_view>({"-i", "--input", "-o", "--output", "-e", "--error"});

constexpr auto kStarters = std::to_array<Starter>({
    {.program = "nice", .values = kNice},
    {.program = "ionice", .values = kIonice, .switches = kIoniceSwitches},
    {.program = "nohup"},
    {.program = "setsid", .switches = kSetsid},
    {.program = "stdbuf", .values = kStdbuf},
    {.program = "mise", .leading = kExecOrX, .dashes = true},
    {.program = "rtx", .leading = kExecOrX, .dashes = true},
    {.program = "asdf", .leading = kExec},
    {.program = "nodenv", .leading = kExec},
    {.program = "pyenv", .leading = kExec},
    {.program = "fnm", .leading = kExec},
    {.program = "volta", .leading = kRun},
    {.program = "corepack"},
});

Words from(std::span<const std::string> command, std::size_t at) {
  return {command.begin() + static_cast<std::ptrdiff_t>(at), command.end()};
}

// How many words the option at `at` has; 0: it is none of this program.
std::size_t option_length(const Starter& starter, std::span<const std::string> command, std::size_t at) {
  const string_view word = command[at];
  if (is_one_of(word, starter.switches)) {
    return 1;
  }
  if (is_one_of(word, starter.values)) {
    return at + 1 < command.size() ? 2 : 0;
  }
  return std::ranges::any_of(starter.values,
                             [word](string_view name) {
                               return word.starts_with(name) &&
                                      (name.starts_with("--") ? word.substr(name.size()).starts_with('=') : true);
                             })
             ? 1
             : 0;
}

std::optional<Words> behind(const Starter& starter, std::span<const std::string> command) {
  std::size_t at = 1;
  if (!starter.leading.empty() && (at >= command.size() || !is_one_of(command[at++], starter.leading))) {
    return std::nullopt;
  }
  while (at < command.size() && command[at].starts_with('-') && command[at] != "--") {
    const std::size_t length = option_length(starter, command, at);
    if (length == 0) {
      return std::nullopt;
    }
    at += length;
  }
  const bool dashes = at < command.size() && command[at] == "--";
  at += dashes ? 1 : 0;
  return at < command.size() && (dashes || !starter.dashes) ? std::optional(from(command, at)) : std::nullopt;
}

// The line of `-S LINE`, `-SLINE`, `-iS LINE`, `--split-string=LINE` at `at`, which then stands on its last word.
std::optional<string_view> line_of_env(std::span<const std::string> command, std::size_t& at) {
  constexpr string_view kLong = "--split-string";
  const string_view word = command[at];
  const std::size_t letter = word.starts_with("--") ? string_view::npos : word.find('S');
  const bool is_long = word == kLong || (word.starts_with(kLong) && word[kLong.size()] == '=');
  if (!is_long && (letter == string_view::npos || word.find_first_not_of("-iv") != letter)) {
    return std::nullopt;
  }
  const string_view rest = is_long ? word.substr(std::min(kLong.size() + 1, word.size())) : word.substr(letter + 1);
  if (!rest.empty() || at + 1 >= command.size()) {
    return rest;
  }
  return string_view(command[++at]);
}

std::optional<Words> behind_env(std::span<const std::string> command, Assigned& assigned) {
  constexpr auto kIdle = std::to_array<string_view>({"-", "-i", "--ignore-environment", "-v", "--debug"});
  Assigned out = assigned;
  bool options = true;
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string& word = command[at];
    if (options && (is_one_of(word, kIdle) || word == "--")) {
      options = word != "--";
    } else if (options && word.starts_with('-')) {
      // env splits the line like a shell that knows no more than quotes, and goes on with its words as its own.
      const auto line = line_of_env(command, at);
      std::optional<Words> words = line && line->find('\\') == string_view::npos ? words_of_line(*line) : std::nullopt;
      if (!words) {
        return std::nullopt;
      }
      const Words rest = from(command, at + 1);
      words->insert(words->begin(), "env");
      words->insert(words->end(), rest.begin(), rest.end());
      assigned = std::move(out);
      return words;
    } else if (is_assignment(word)) {
      options = false;
      assign(word, out);
    } else {
      assigned = std::move(out);
      return from(command, at);
    }
  }
  return std::nullopt;
}

// `python -m uv tool run x`, and node with npm's own script.
std::optional<Words> behind_interpreter(std::span<const std::string> command, string_view program) {
  if (command.size() < 3) {
    return std::nullopt;
  }
  if (program.starts_with("python") && command[1] == "-m" && (command[2] == "uv" || command[2] == "pipx")) {
    return from(command, 2);
  }
  if (program == "node" || program == "nodejs") {
    const std::string script = program_name(command[1]);
    for (const string_view name : {"npx", "npm"}) {
      // "npx" alone is a file of the working directory.
      const bool named = script == name && command[1].find_first_of("/\\") != std::string::npos;
      if (named || script == std::string(name) + "-cli.js") {
        Words out = from(command, 1);
        out.front() = name;
        return out;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_assignment(string_view word) {
  const std::size_t equals = word.find('=');
  return equals != string_view::npos && equals > 0 && std::ranges::all_of(word.substr(0, equals), is_name_char);
}

void assign(const std::string& word, Assigned& out) {
  const std::size_t equals = word.find('=');
  std::erase_if(out, [&](const auto& one) { return one.first == string_view(word).substr(0, equals); });
  out.emplace_back(word.substr(0, equals), word.substr(equals + 1));
}

std::optional<Words> behind_starter(std::span<const std::string> command, Assigned& assigned) {
  const std::string program = program_name(command.front());
  if (program == "env") {
    return behind_env(command, assigned);
  }
  const auto starter = std::ranges::find(kStarters, program, &Starter::program);
  return starter != kStarters.end() ? behind(*starter, command) : behind_interpreter(command, program);
}

}  // namespace cordon::clients
