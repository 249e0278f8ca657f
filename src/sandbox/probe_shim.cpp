// SPDX-License-Identifier: Apache-2.0
// Version managers put a program into PATH that is not the program: a script or a link to the manager, which chooses
// at every start. Inside, the manager is not there, and what it chooses must be what was planned. So the choice is made
// here, once, by the manager's own files; where these leave it open, the launch is refused and says what to write.
//
//   pyenv, nodenv, rbenv  ROOT/shims/P: a script      ROOT/versions/V/bin/P            ROOT/version, or the only one
//   asdf                  ROOT/shims/P: a script      ROOT/installs/TOOL/V/bin/P       "# asdf-plugin:" in it,
//   ~/.tool-versions mise                  ROOT/shims/P → mise         ROOT/installs/TOOL/V/bin/P
//   ~/.config/mise/config.toml volta                 ROOT/bin/P → volta-shim     ROOT/tools/image/node/V/bin/P
//   ROOT/tools/user/platform.json
//
// nvm, fnm and uv put the program itself, or a link to it, into PATH: nothing is to be done for them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

bool is_folder(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// A manager's settings are short; what is longer is none of theirs.
std::string read_short(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, 65536> buffer = {};
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return std::string(buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// A version is one name below the folder of all: it must not lead elsewhere.
bool is_name(std::string_view version) {
  return !version.empty() && version != "." && version != ".." && version.find('/') == std::string_view::npos;
}

struct Choice {
  std::string folder = {};  // of all versions
  std::string word = {};    // the program
};

std::string program_of(const Choice& choice, std::string_view version) {
  if (!is_name(version)) {
    return {};
  }
  std::string program = text::cat(choice.folder, "/", version, "/bin/", choice.word);
  return is_program(program) ? program : std::string();
}

// The one that is installed, when all names lead to the same; mise has 22 → 22.1.0 beside it.
std::string only_one(const Choice& choice) {
  std::string found;
  for (const std::string& version : entries_of(choice.folder)) {
    const std::string program = program_of(choice, version);
    if (program.empty()) {
      continue;
    }
    if (!found.empty() && real_path(found) != real_path(program)) {
      return {};  // which, only the manager knows
    }
    found = program;
  }
  return found;
}

std::string chosen_or_only(const Choice& choice, std::string_view version) {
  return version.empty() ? only_one(choice) : program_of(choice, version);
}

// ROOT/version holds one version in a line, in order of preference; "system" means what PATH has after the shims.
std::string behind_pyenv(const std::string& root, const std::string& word) {
  const Choice choice{root + "/versions", word};
  const std::string chosen = read_short(root + "/version");
  for (const std::string_view line : text::split(chosen, '\n')) {
    for (const std::string_view version : words_of(line)) {
      if (version == "system") {
        return {};
      }
      if (std::string program = program_of(choice, version); !program.empty()) {
        return program;
      }
    }
  }
  return words_of(chosen.substr(0, chosen.find('\n'))).empty() ? only_one(choice) : std::string();
}

// "nodejs 22.1.0 system" in ~/.tool-versions: the first is the one.
std::string version_of_tool(const std::string& settings, std::string_view tool) {
  for (const std::string_view line : text::split(settings, '\n')) {
    const std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
    if (words.size() >= 2 && words[0] == tool) {
      return std::string(words[1]);
    }
  }
  return {};
}

std::string behind_asdf(const std::string& root, const std::string& shim) {
  const std::string settings = read_short(std::string(parent_path(root)) + "/.tool-versions");
  const std::string script = read_short(shim);
  const std::string word(last_component(shim));
  std::string found;
  for (const std::string_view line : text::split(script, '\n')) {
    // "# asdf-plugin: nodejs 22.1.0": one line for each version that has this program.
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4 || words[0] != "#" || words[1] != "asdf-plugin:" || !is_name(words[2])) {
      continue;
    }
    const Choice choice{text::cat(root, "/installs/", words[2]), word};
    const std::string wanted = version_of_tool(settings, words[2]);
    const std::string program = program_of(choice, wanted.empty() ? words[3] : std::string_view(wanted));
    if (program.empty()) {
      continue;
    }
    if (!found.empty() && found != program) {
      return {};
    }
    found = program;
  }
  return found;
}

std::string_view unquoted(std::string_view word) {
  const bool quoted = word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
  return quoted ? word.substr(1, word.size() - 2) : word;
}

// `key = "value"` in the section [tools] of a TOML file; other forms (lists, tables) leave the choice open.
std::string mise_version(const std::string& settings, std::string_view tool) {
  bool in_tools = false;
  for (const std::string_view line : text::split(settings, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (!words.empty() && words[0].starts_with('[')) {
      in_tools = words[0] == "[tools]";
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!in_tools || equals == std::string_view::npos) {
      continue;
    }
    const std::vector<std::string_view> name = words_of(line.substr(0, equals));
    const std::vector<std::string_view> value = words_of(line.substr(equals + 1));
    if (name.size() != 1 || value.empty() || unquoted(name[0]) != tool) {
      continue;
    }
    return std::string(unquoted(value[0]));
  }
  return {};
}

std::string behind_mise(const std::string& root, const std::string& word) {
  constexpr std::string_view kPlace = "/.local/share/mise";
  std::string settings;
  if (root.ends_with(kPlace)) {
    const std::string home = root.substr(0, root.size() - kPlace.size());
    settings = read_short(home + "/.config/mise/config.toml");
  }
  std::string found;
  for (const std::string& tool : entries_of(root + "/installs")) {
    const Choice choice{text::cat(root, "/installs/", tool), word};
    const std::string program = chosen_or_only(choice, mise_version(settings, tool));
    if (program.empty()) {
      continue;
    }
    if (!found.empty()) {
      return {};
    }
    found = program;
  }
  return found;
}

// {"node":{"runtime":"22.1.0",…}}: the only "runtime" in it.
std::string volta_runtime(const std::string& settings) {
  const std::size_t key = settings.find("\"runtime\"");
  const std::size_t open = key == std::string::npos ? key : settings.find('"', settings.find(':', key));
  const std::size_t close = open == std::string::npos ? open : settings.find('"', open + 1);
  return close == std::string::npos ? std::string() : settings.substr(open + 1, close - open - 1);
}

std::string behind_volta(const std::string& root, const std::string& word) {
  const Choice node{root + "/tools/image/node", word};
  const std::string settings = read_short(root + "/tools/user/platform.json");
  if (std::string program = chosen_or_only(node, volta_runtime(settings)); !program.empty()) {
    return program;
  }
  // A package that was installed for everyone has an image of its own.
  std::string found;
  for (const std::string& package : entries_of(root + "/tools/image/packages")) {
    std::string program = program_of({root + "/tools/image/packages", word}, package);
    if (!program.empty() && !found.empty()) {
      return {};
    }
    found = program.empty() ? found : program;
  }
  return found;
}

}  // namespace

Result<std::string> behind_shim(const std::string& path) {
  const std::string folder(parent_path(path));
  const std::string root(parent_path(folder));
  const std::string word(last_component(path));
  std::error_code error;
  const std::filesystem::path link = std::filesystem::read_symlink(path, error);
  std::string program = path;
  if (last_component(folder) == "shims" && is_folder(root + "/versions")) {
    program = behind_pyenv(root, word);
  } else if (last_component(folder) == "shims" && is_folder(root + "/installs")) {
    program = !error && link.filename() == "mise" ? behind_mise(root, word) : behind_asdf(root, path);
  } else if (!error && link.filename() == "volta-shim") {
    program = behind_volta(root, word);
  }
  if (program.empty()) {
    return fail(Errc::launch_failed, "a shim, which chooses a program at every start", text::printable(path),
                "name the program itself in launch.command");
  }
  return program;
}

}  // namespace cordon::sandbox
