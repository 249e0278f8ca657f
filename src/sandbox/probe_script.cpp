// SPDX-License-Identifier: Apache-2.0
// What a script is run by, read as the kernel reads it: another reading would show or check another file than the one
// that runs.
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::size_t kKernelReads = 256;  // BINPRM_BUF_SIZE
constexpr std::string_view kBlanks = " \t";
constexpr int kNesting = 5;  // a script that runs a script that …

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string first_bytes(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, kKernelReads> buffer = {};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return std::string(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

// The program that env(1) looks up; its argument is one string, which only -S takes apart.
std::string env_word(std::string_view argument) {
  if (!argument.starts_with("-S")) {
    return std::string(argument);
  }
  const std::string_view words = trimmed(argument.substr(2));
  return std::string(words.substr(0, words.find_first_of(kBlanks)));
}

std::string server_path(const LaunchSpec& spec) {
  for (const std::string& variable : spec.environment) {
    if (variable.starts_with("PATH=")) {
      return variable.substr(5);
    }
  }
  return {};
}

std::string spelled_in(const std::string& path, const std::string& word) {
  for (const std::string_view folder : text::split(path, ':')) {
    std::string candidate = text::cat(folder, "/", word);
    if (folder.starts_with('/') && is_program(candidate)) {
      return candidate;
    }
  }
  return {};
}

}  // namespace

std::optional<ScriptLine> parse_script_line(std::string_view head) {
  if (!head.starts_with("#!")) {
    return std::nullopt;
  }
  const bool complete = head.size() < kKernelReads || head.find('\0') != std::string_view::npos;
  head = head.substr(2, kKernelReads - 2);
  head = head.substr(0, head.find('\0'));
  const std::size_t newline = head.find('\n');
  std::string_view line = head.substr(0, newline);
  if (newline == std::string_view::npos && !complete) {
    line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || line.find_first_of(kBlanks, first) == std::string_view::npos) {
      return std::nullopt;  // the name was cut off
    }
  }
  line = trimmed(line);
  if (line.empty()) {
    return std::nullopt;
  }
  const std::size_t end = line.find_first_of(kBlanks);
  return ScriptLine{.interpreter = std::string(line.substr(0, end)),
                    .argument = end == std::string_view::npos ? std::string() : std::string(trimmed(line.substr(end)))};
}

std::string env_interpreter(const std::string& script, const std::string& path) {
  const auto line = parse_script_line(first_bytes(script));
  if (!line || last_component(line->interpreter) != "env" || line->argument.empty()) {
    return {};
  }
  const std::string word = env_word(line->argument);
  const std::string found = word.find('/') == std::string::npos ? spelled_in(path, word) : std::string();
  return found.empty() ? found : behind_shim(found).value_or(std::string());
}

ScriptPrograms script_programs(const std::string& path, const LaunchSpec& spec) {
  ScriptPrograms programs;
  std::string script = path;
  for (int level = 0; level < kNesting; ++level) {
    const auto line = parse_script_line(first_bytes(script));
    if (!line) {
      break;
    }
    programs.spelled.push_back(line->interpreter);
    std::string next = line->interpreter.starts_with('/') ? real_path(line->interpreter) : std::string();
    if (last_component(line->interpreter) == "env" && !line->argument.empty()) {
      const std::string word = env_word(line->argument);
      if (std::string found = spelled_in(server_path(spec), word); !found.empty()) {
        programs.spelled.push_back(std::move(found));
      }
      next = resolve_executable(word, server_path(spec), "/").value_or(std::string());
    }
    // Anything else than a program would not be executed, and must not be shown because a script names it.
    if (!is_program(next)) {
      break;
    }
    programs.interpreter = programs.interpreter.empty() ? next : programs.interpreter;
    script = next;
  }
  return programs;
}

}  // namespace cordon::sandbox
