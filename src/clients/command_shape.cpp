// SPDX-License-Identifier: Apache-2.0
#include "clients/command_shape.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "clients/starters.hpp"

namespace cordon::clients {
namespace {

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_shell(std::string_view program) {
  constexpr auto kShells = std::to_array<std::string_view>({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"});
  return one_of(program, kShells);
}

// One step inwards; nothing when there is none.
std::optional<std::vector<std::string>> inner(std::span<const std::string> command, Assigned& assigned) {
  const std::string program = program_name(command.front());
  if (program == "cmd") {
    for (std::size_t at = 1; at + 1 < command.size() && command[at].starts_with('/'); ++at) {
      if (text::lower_ascii(command[at]) == "/c") {
        std::vector<std::string> rest(command.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.end());
        // `cmd /c "npx -y x"`: one word that is a line.
        return rest.size() == 1 ? plain_words(rest.front()).value_or(rest) : rest;
      }
    }
    return std::nullopt;
  }
  if (is_shell(program)) {
    const std::optional<std::string> script = shell_script(command);
    std::optional<std::vector<std::string>> words = script ? words_of_line(*script) : std::nullopt;
    if (!words || std::ranges::all_of(*words, is_assignment)) {
      return std::nullopt;  // nothing is run
    }
    while (is_assignment(words->front())) {
      assign(words->front(), assigned);
      words->erase(words->begin());
    }
    if (words->size() > 1 && words->front() == "exec") {
      words->erase(words->begin());
    }
    return words;
  }
  return behind_starter(command, assigned);
}

bool runs_a_download(std::string_view script) {
  const bool fetches = script.find("curl") != std::string_view::npos || script.find("wget") != std::string_view::npos ||
                       script.find("iwr") != std::string_view::npos ||
                       script.find("Invoke-WebRequest") != std::string_view::npos ||
                       script.find("DownloadString") != std::string_view::npos;
  const bool hands_on = script.find('|') != std::string_view::npos || script.find("$(") != std::string_view::npos ||
                        script.find("<(") != std::string_view::npos || script.find('`') != std::string_view::npos ||
                        script.find("iex") != std::string_view::npos;
  return fetches && hands_on;
}

bool is_engine(std::string_view program) { return program == "docker" || program == "podman" || program == "nerdctl"; }

// The value of an option that is `--name=value` or `--name value`, or `-nvalue`.
std::string_view option_value(std::span<const std::string> command, std::size_t at, std::string_view name) {
  const std::string_view word = command[at];
  if (word == name) {
    return at + 1 < command.size() ? std::string_view(command[at + 1]) : std::string_view();
  }
  if (!word.starts_with(name)) {
    return {};
  }
  const std::string_view rest = word.substr(name.size());
  if (name.starts_with("--")) {
    return rest.starts_with('=') ? rest.substr(1) : std::string_view();
  }
  return rest;
}

bool is_whole_machine(std::string_view source) {
  constexpr auto kWhole =
      std::to_array<std::string_view>({"/", "~", "~/", "$HOME", "${HOME}", "${userHome}", "${env:HOME}"});
  return one_of(source, kWhole) || source == "/home" || source == "/root" || source == "/etc";
}

void engine_dangers(std::span<const std::string> command, std::vector<Danger>& out) {
  bool privileged = false;
  bool socket = false;
  bool whole = false;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string_view word = command[i];
    privileged = privileged || word == "--privileged" || word == "--privileged=true" ||
                 !option_value(command, i, "--cap-add").empty() || !option_value(command, i, "--device").empty();
    for (const std::string_view space : {"--pid", "--ipc", "--net", "--network", "--userns", "--uts", "--cgroupns"}) {
      privileged = privileged || option_value(command, i, space) == "host";
    }
    socket = socket || word.find("docker.sock") != std::string_view::npos ||
             word.find("podman.sock") != std::string_view::npos ||
             word.find("containerd.sock") != std::string_view::npos;
    for (const std::string_view name : {"-v", "--volume"}) {
      const std::string_view mount = option_value(command, i, name);
      // `${userHome}:/x` has a colon of its own in `${env:HOME}`; the last but one separates.
      const std::size_t colon = mount.find(":/");
      whole = whole || (colon != std::string_view::npos && is_whole_machine(mount.substr(0, colon)));
    }
    const std::string_view mount = option_value(command, i, "--mount");
    for (const std::string_view part : text::split(mount, ',')) {
      for (const std::string_view key : {"source=", "src="}) {
        whole = whole || (part.starts_with(key) && is_whole_machine(part.substr(key.size())));
      }
    }
  }
  if (privileged) {
    out.push_back(Danger::privileged_image);
  }
  if (socket) {
    out.push_back(Danger::engine_socket);
  }
  if (whole) {
    out.push_back(Danger::whole_machine);
  }
}

}  // namespace

std::string program_name(std::string_view word) {
  const std::size_t slash = word.find_last_of("/\\");
  std::string out(slash == std::string_view::npos ? word : word.substr(slash + 1));
  const std::string low = text::lower_ascii(out);
  for (const std::string_view extension : {".exe", ".cmd", ".bat", ".ps1"}) {
    if (low.size() > extension.size() && low.ends_with(extension)) {
      return low.substr(0, low.size() - extension.size());
    }
  }
  return out;
}

std::optional<std::vector<std::string>> words_of_line(std::string_view script) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  for (std::size_t i = 0; i < script.size(); ++i) {
    const char c = script[i];
    if (c == ' ' || c == '\t') {
      if (word) {
        words.push_back(std::move(*word));
        word.reset();
      }
      continue;
    }
    if (!word) {
      word.emplace();
    }
    if (c == '\'' || c == '"') {
      const std::size_t end = script.find(c, i + 1);
      if (end == std::string_view::npos) {
        return std::nullopt;
      }
      const std::string_view quoted = script.substr(i + 1, end - i - 1);
      if (c == '"' && quoted.find_first_of("$`\\") != std::string_view::npos) {
        return std::nullopt;
      }
      *word += quoted;
      i = end;
      continue;
    }
    if (std::string_view("|&;<>()$`\\*?[]{}!#~\n\r").find(c) != std::string_view::npos) {
      return std::nullopt;
    }
    *word += c;
  }
  if (word) {
    words.push_back(std::move(*word));
  }
  return words.empty() ? std::nullopt : std::optional(std::move(words));
}

namespace {

std::pair<std::vector<std::string>, Assigned> unwrapped(std::span<const std::string> command) {
  std::pair<std::vector<std::string>, Assigned> out{{command.begin(), command.end()}, {}};
  for (int depth = 0; depth < 6 && !out.first.empty(); ++depth) {
    std::optional<std::vector<std::string>> next = inner(out.first, out.second);
    if (!next || next->empty()) {
      break;
    }
    out.first = std::move(*next);
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::string>> plain_words(std::string_view script) {
  std::optional<std::vector<std::string>> words = words_of_line(script);
  return words && !is_assignment(words->front()) ? words : std::nullopt;
}

std::optional<std::string> shell_script(std::span<const std::string> command) {
  if (command.empty()) {
    return std::nullopt;
  }
  const std::string program = program_name(command.front());
  if (program == "cmd") {
    for (std::size_t i = 1; i < command.size(); ++i) {
      if (text::lower_ascii(command[i]) == "/c" || text::lower_ascii(command[i]) == "/k") {
        return text::join(command.subspan(i + 1), " ");
      }
    }
    return std::nullopt;
  }
  const bool power = program == "powershell" || program == "pwsh";
  if (!is_shell(program) && !power) {
    return std::nullopt;
  }
  for (std::size_t i = 1; i + 1 < command.size(); ++i) {
    const std::string low = text::lower_ascii(command[i]);
    if (power ? (low == "-command" || low == "-c")
              : (command[i].starts_with('-') && !command[i].starts_with("--") && command[i].ends_with('c'))) {
      return power ? text::join(command.subspan(i + 1), " ") : command[i + 1];
    }
    if (!power && (low == "-o" || low == "+o")) {
      ++i;  // bash -o pipefail -c SCRIPT
    } else if (!command[i].starts_with('-')) {
      return std::nullopt;  // a script file
    }
  }
  return std::nullopt;
}

std::vector<std::string> innermost(std::span<const std::string> command) { return unwrapped(command).first; }

Assigned assigned_on_the_way(std::span<const std::string> command) { return unwrapped(command).second; }

std::vector<Danger> dangers(std::span<const std::string> command) {
  std::vector<Danger> out;
  if (command.empty()) {
    return out;
  }
  const std::vector<std::string> last = innermost(command);
  constexpr auto kSuperusers = std::to_array<std::string_view>({"sudo", "doas", "pkexec", "su", "runas", "gsudo"});
  if (one_of(program_name(command.front()), kSuperusers) ||
      (!last.empty() && one_of(program_name(last.front()), kSuperusers))) {
    out.push_back(Danger::superuser);
  }
  const std::optional<std::string> script = shell_script(last);
  if (script && !plain_words(*script)) {
    out.push_back(runs_a_download(*script) ? Danger::fetched_script : Danger::shell_script);
  }
  if (!last.empty() && is_engine(program_name(last.front()))) {
    engine_dangers(last, out);
  }
  const std::string& program = command.front();
  if (program.find(' ') != std::string::npos && program.find_first_of("/\\") == std::string::npos) {
    out.push_back(Danger::command_line);
  }
  return out;
}

std::string_view name(Danger danger) {
  switch (danger) {
    case Danger::superuser:
      return "superuser";
    case Danger::shell_script:
      return "shell_script";
    case Danger::fetched_script:
      return "fetched_script";
    case Danger::privileged_image:
      return "privileged_image";
    case Danger::engine_socket:
      return "engine_socket";
    case Danger::whole_machine:
      return "whole_machine";
    case Danger::command_line:
      return "command_line";
  }
  return "";
}

std::string_view phrase(Danger danger) {
  switch (danger) {
    case Danger::superuser:
      return "is started as another user, often root";
    case Danger::shell_script:
      return "is a shell script of more than one plain command";
    case Danger::fetched_script:
      return "runs what a download prints";
    case Danger::privileged_image:
      return "gives an image rights over the machine";
    case Danger::engine_socket:
      return "hands the container engine to an image";
    case Danger::whole_machine:
      return "mounts the whole machine, /etc or a whole home folder into an image";
    case Danger::command_line:
      return "has a whole line in place of the program's name";
  }
  return "";
}

bool has_placeholder(std::string_view word) {
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    const char next = word[i + 1];
    if (word[i] == '$' && (next == '{' || is_name_char(next))) {
      return true;
    }
    if (word[i] == '%' && is_name_char(next)) {
      std::size_t end = i + 1;
      while (end < word.size() && is_name_char(word[end])) {
        ++end;
      }
      if (end < word.size() && word[end] == '%') {
        return true;
      }
    }
    if (word[i] == '{' && (word.substr(i).starts_with("{env:") || word.substr(i).starts_with("{file:"))) {
      return true;  // opencode
    }
  }
  return false;
}

}  // namespace cordon::clients
