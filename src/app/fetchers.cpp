// SPDX-License-Identifier: Apache-2.0
#include "app/fetchers.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "app/npm_client.hpp"
#include "app/paths.hpp"
#include "app/pypi_client.hpp"
#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

enum class Kind : std::uint8_t { npm, python };

// A program, perhaps with a first word, that fetches what the next word names.
struct Tool {
  std::string_view program = {};
  std::string_view first = {};    // "dlx" in `pnpm dlx`; empty: none
  std::string_view second = {};   // "run" in `uv tool run`
  std::string_view offline = {};  // the option that its user is told of
  Kind kind = Kind::npm;
};

constexpr auto kTools = std::to_array<Tool>({
    {"npx", "", "", "--offline", Kind::npm},
    {"npx-cli.js", "", "", "--offline", Kind::npm},
    {"npm", "exec", "", "--offline", Kind::npm},
    {"npm", "x", "", "--offline", Kind::npm},
    {"npm-cli.js", "exec", "", "--offline", Kind::npm},
    {"npm-cli.js", "x", "", "--offline", Kind::npm},
    {"pnpm", "dlx", "", "--offline", Kind::npm},
    {"pnpx", "", "", "--offline", Kind::npm},
    {"yarn", "dlx", "", "", Kind::npm},
    {"bunx", "", "", "--no-install", Kind::npm},
    {"bun", "x", "", "--no-install", Kind::npm},
    {"uvx", "", "", "--offline", Kind::python},
    {"uv", "tool", "run", "--offline", Kind::python},
    {"uv", "run", "", "--offline", Kind::python},
    {"uv", "x", "", "--offline", Kind::python},
    {"pipx", "run", "", "", Kind::python},
});

// With one of these the tool takes what is there. The last one: uv runs what it has installed before.
constexpr auto kStayHome = std::to_array<std::string_view>({"--offline", "--no-install", "--no", "--no-sync"});
// With one of these npm installs nothing, but asks the registry for what it does not find in its folder.
constexpr auto kAsksAnyway = std::to_array<std::string_view>({"--no-install", "--no"});
constexpr auto kNpmPackage = std::to_array<std::string_view>({"-p", "--package"});
constexpr auto kNpmLine = std::to_array<std::string_view>({"-c", "--call"});
constexpr auto kPythonPackage = std::to_array<std::string_view>({"--from", "--spec", "--with"});
// Options whose value is the next word.
constexpr auto kWithValue = std::to_array<std::string_view>(
    {"-p", "--package", "-c", "--call", "--from", "--with", "--python", "--spec", "--directory", "--project", "-C",
     "--prefix", "--index-url", "--registry", "-w", "--workspace"});

// Programs that start another one, as they are used in clients' configs.
constexpr auto kStarters = std::to_array<std::string_view>({"env",          "timeout",  "nice",
                                                            "ionice",       "nohup",    "setsid",
                                                            "stdbuf",       "time",     "chrt",
                                                            "taskset",      "unbuffer", "xvfb-run",
                                                            "mise",         "rtx",      "asdf",
                                                            "nodenv",       "nvm",      "volta",
                                                            "fnm",          "proto",    "corepack",
                                                            "dotenv",       "dotenvx",  "mcp-proxy",
                                                            "firejail",     "bwrap",    "unshare",
                                                            "setpriv",      "runuser",  "sudo",
                                                            "doas",         "gosu",     "tini",
                                                            "dumb-init",    "op",       "doppler",
                                                            "infisical",    "direnv",   "dbus-run-session",
                                                            "devbox",       "flox",     "nix",
                                                            "pixi",         "conda",    "mamba",
                                                            "micromamba",   "poetry",   "pdm",
                                                            "hatch",        "rye",      "pyenv",
                                                            "prlimit",      "numactl",  "strace",
                                                            "script",       "flock",    "proxychains",
                                                            "proxychains4", "torsocks", "aws-vault",
                                                            "chamber",      "envchain", "systemd-run",
                                                            "wsl",          "start",    "call",
                                                            "exec",         "command"});

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Interpreters that run npm's scripts.
bool is_interpreter(std::string_view name) { return name == "node" || name == "nodejs" || name == "bun"; }

struct Words {
  std::vector<std::string_view> plain = {};  // neither an option nor the value of one, up to the package
  std::string_view package = {};             // value of the first option that names one
  std::string_view line = {};                // of the option that says what is started
  bool stays_home = false;
  bool asks_anyway = false;
};

// The value of the option at `at`, when it is one of `names`: behind "=", or the next word.
std::optional<std::string_view> value_of(std::span<const std::string> arguments, std::size_t at,
                                         std::span<const std::string_view> names) {
  const std::string_view word = arguments[at];
  const std::size_t equals = std::min(word.starts_with("--") ? word.find('=') : word.size(), word.size());
  if (!is_one_of(word.substr(0, equals), names)) {
    return std::nullopt;
  }
  if (equals < word.size()) {
    return word.substr(equals + 1);
  }
  return at + 1 < arguments.size() ? std::string_view(arguments[at + 1]) : std::string_view();
}

// The words before what is run: what follows belongs to the package.
Words read_words(std::span<const std::string> arguments, std::size_t wanted, Kind kind) {
  const std::span<const std::string_view> package =
      kind == Kind::npm ? std::span<const std::string_view>(kNpmPackage) : kPythonPackage;
  Words out;
  for (std::size_t i = 0; i < arguments.size() && out.plain.size() < wanted; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--") {
      if (i + 1 < arguments.size() && out.plain.size() + 1 == wanted) {
        out.plain.emplace_back(arguments[i + 1]);
      }
      break;
    }
    if (!word.starts_with('-')) {
      out.plain.push_back(word);
      continue;
    }
    if (const auto value = value_of(arguments, i, package); value && out.package.empty()) {
      out.package = *value;
    }
    if (const auto value = kind == Kind::npm ? value_of(arguments, i, kNpmLine) : std::nullopt) {
      out.line = *value;
    }
    if (is_one_of(word, kStayHome)) {
      // Either way nothing is installed; what does not ask either decides.
      out.asks_anyway = (out.asks_anyway || !out.stays_home) && is_one_of(word, kAsksAnyway);
      out.stays_home = true;
    } else if (is_one_of(word, kWithValue)) {
      ++i;
    }
  }
  return out;
}

// As a policy names it; uv's pkg@1.2 is pkg==1.2 there. Empty for a URL, a repository or a folder.
std::string policy_name(Kind kind, std::string_view package) {
  if (package.empty()) {
    return "PACKAGE";
  }
  if (kind == Kind::npm) {
    return policy::read_npm_name(package) ? std::string(package) : std::string();
  }
  const std::size_t at = std::min(package.find('@'), package.size());
  const std::string_view version = package.substr(std::min(at + 1, package.size()));
  const std::string spelled =
      text::cat(package.substr(0, at),
                version.empty() || version == "latest" ? "" : "==", version == "latest" ? std::string_view() : version);
  return policy::read_pypi_name(spelled) ? spelled : std::string();
}

std::string remedy_for(const Tool& tool, std::string_view package) {
  const std::string name = policy_name(tool.kind, package);
  const std::string install =
      name.empty() ? std::string(
                         "it comes from no registry: install it in a folder yourself, grant that folder in "
                         "isolation.filesystem.read, and name its program and entry file in launch.command")
                   : text::cat("let launch.source name it, {", tool.kind == Kind::npm ? "npm" : "pypi", ": \"", name,
                               "\"}, and launch.command its program and arguments, [BIN, ...]; mcp-cordon install then "
                               "fetches it once");
  return tool.offline.empty() ? install
                              : text::cat(install, "; or add ", tool.offline,
                                          " and name in launch.cwd the folder where it is installed");
}

std::optional<Fetch> fetch_in_script(std::string script);

std::optional<Fetch> fetch_by(std::string_view program, std::span<const std::string> arguments) {
  for (const Tool& tool : kTools) {
    if (tool.program != program) {
      continue;
    }
    const std::size_t leading = (tool.first.empty() ? 0U : 1U) + (tool.second.empty() ? 0U : 1U);
    const Words words = read_words(arguments, leading + 1, tool.kind);
    if ((leading > 0 && (words.plain.empty() || words.plain[0] != tool.first)) ||
        (leading > 1 && (words.plain.size() < 2 || words.plain[1] != tool.second))) {
      continue;
    }
    // `npm --call LINE` without a package starts what stands in the line, and fetches nothing.
    if (!words.line.empty() && words.package.empty()) {
      return fetch_in_script(std::string(words.line));
    }
    const bool asks_anyway = words.asks_anyway && (program.starts_with("npx") || program.starts_with("npm"));
    if (words.stays_home && !asks_anyway) {
      return std::nullopt;
    }
    const std::string_view script = program.ends_with("-cli.js") ? program.substr(0, 3) : program;
    Fetch out;
    out.python = tool.kind == Kind::python;
    out.installs = !words.stays_home;
    out.tool = text::cat(script, leading > 0 ? " " : "", tool.first, leading > 1 ? " " : "", tool.second);
    const std::string_view plain = words.plain.size() > leading ? words.plain[leading] : std::string_view();
    const std::string_view package = words.package.empty() ? plain : words.package;
    out.package = text::printable(package, 200);
    out.remedy = remedy_for(tool, out.package);
    return out;
  }
  return std::nullopt;
}

// The command as it stands, and not what it hands on to.
std::optional<Fetch> fetch_of(const std::vector<std::string>& command, const std::string& executable) {
  const std::span<const std::string> arguments = std::span(command).subspan(1);
  for (const std::string& name : {file_name_of(command.front()), file_name_of(executable)}) {
    if (auto found = fetch_by(name, arguments)) {
      return found;
    }
  }
  // node …/npx-cli.js
  if (is_interpreter(file_name_of(executable)) || is_interpreter(file_name_of(command.front()))) {
    const auto script = std::ranges::find_if(arguments, [](const std::string& word) { return !word.starts_with('-'); });
    if (script != arguments.end()) {
      const auto after = static_cast<std::size_t>(script - arguments.begin()) + 1;
      return fetch_by(file_name_of(resolved(*script)), arguments.subspan(after));
    }
  }
  return std::nullopt;
}

// Behind the options of a program that starts another one: `timeout 60 npx -y x`.
std::optional<Fetch> fetch_behind(const std::vector<std::string>& command) {
  if (!is_one_of(file_name_of(command.front()), kStarters)) {
    return std::nullopt;
  }
  for (auto word = command.begin() + 1; word != command.end(); ++word) {
    if (is_interpreter(file_name_of(*word)) || file_name_of(*word).starts_with("python")) {
      return std::nullopt;  // what follows are its words
    }
    if (std::ranges::find(kTools, file_name_of(*word), &Tool::program) != kTools.end()) {
      return fetch_of({word, command.end()}, "");
    }
  }
  return std::nullopt;
}

// Among the commands of a shell script: `cd /x && exec npx -y x "$@"`.
std::optional<Fetch> fetch_in_script(std::string script) {
  for (char& c : script) {
    c = std::string_view(";&|(){}\n").contains(c) ? '\n' : c;
  }
  for (const std::string_view line : text::split(script, '\n')) {
    std::vector<std::string> words;
    for (const std::string_view word : text::split(line, ' ')) {
      const bool leads_in = words.empty() && (word == "exec" || word.find('=') != std::string_view::npos);
      if (!word.empty() && !leads_in) {
        words.emplace_back(word);
      }
    }
    std::optional<Fetch> found = words.empty() ? std::nullopt : fetch_of(words, "");
    found = found || words.empty() ? found : fetch_behind(words);
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fetch> fetches(const std::vector<std::string>& command, const std::string& executable) {
  if (command.empty()) {
    return std::nullopt;
  }
  if (auto found = fetch_of(command, executable)) {
    return found;
  }
  const std::vector<std::string> inner = clients::innermost(command);
  auto found = inner.empty() || inner == command ? std::nullopt : fetch_of(inner, "");
  found = found || inner.empty() ? found : fetch_behind(inner);
  if (const auto script = clients::shell_script(inner); script && !found) {
    return fetch_in_script(*script);
  }
  return found;
}

bool reaches_registry(const Caller& caller, const Fetch& fetch, const egress::Rules& network) {
  egress::Rules wanted;
  if (fetch.python) {
    const Result<PypiClient> client = pypi_client(caller);
    wanted = client ? client->network : egress::Rules();
  } else {
    const Result<NpmClient> client = npm_client(caller);
    wanted = client ? client->network : egress::Rules();
  }
  const auto allows = [](const egress::Rule& rule, const egress::Rule& host) {
    const bool named =
        rule.kind == egress::HostKind::wildcard ? host.host.ends_with("." + rule.host) : host.host == rule.host;
    return named && std::ranges::includes(rule.ports, host.ports);
  };
  return std::ranges::any_of(wanted.allow, [&](const egress::Rule& host) {
    return std::ranges::any_of(network.allow, [&](const egress::Rule& rule) { return allows(rule, host); });
  });
}

}  // namespace cordon::app
