// SPDX-License-Identifier: Apache-2.0
#include "clients/starter_policy.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/secrets.hpp"
#include "core/json/write.hpp"

namespace cordon::clients {
namespace {

using Lines = std::vector<std::string>;

std::string list(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  std::ranges::transform(words, std::back_inserter(out), [](const std::string& word) { return json::quoted(word); });
  return text::cat('[', text::join(out, ", "), ']');
}

// Text of strangers in a comment: it must stay one.
std::string comment(std::string_view text) { return text::printable(text, 2000); }

std::string shown(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && word.find_first_of(" \t\"'\\$`|&;<>()*?[]{}!#~\n") == std::string::npos;
    out += text::cat(out.empty() ? "" : " ", plain ? word : json::quoted(word));
  }
  return out;
}

bool from_client(const Starter& starter) { return std::ranges::any_of(starter.command, has_placeholder); }

bool is_image(const Starter& starter) { return starter.package && starter.package->kind == PackageKind::oci; }

// What is started. This is the one place that says how: a package that launch.source can name would be named here.
void add_launch(const Starter& starter, Lines& out) {
  out.emplace_back("launch:");
  if (!starter.source.empty()) {
    const std::string runner = starter.package ? starter.package->runner : std::string("npx");
    if (is_image(starter)) {
      out.push_back(text::cat("  # The image that ", runner,
                              " starts is fetched once, by mcp-cordon install or the first review; its"));
      out.emplace_back("  # digest stands here then, and another image is not started.");
    } else {
      out.push_back(text::cat("  # What ", runner,
                              " would fetch at every start is fetched once, by mcp-cordon install or the first review, "
                              "in a"));
      out.emplace_back("  # sandbox of its own; an open version becomes exact here then.");
    }
    out.push_back(text::cat("  source: {", starter.source_kind, ": ", json::quoted(starter.source),
                            starter.source_bin.empty() ? "" : ", bin: ",
                            starter.source_bin.empty() ? std::string() : json::quoted(starter.source_bin), '}'));
    out.push_back(text::cat("  command: ", list(starter.source_command)));
    if (!starter.cwd.empty()) {
      out.push_back(text::cat("  cwd: ", json::quoted(starter.cwd)));
    }
    return;
  }
  if (starter.package && !is_image(starter)) {
    const PackageSpec& package = *starter.package;
    out.push_back(text::cat("  # ", package.runner, " fetches ", comment(package.written), " at every start",
                            package.pinned ? "" : ", in whatever version that is then", "."));
    out.emplace_back(
        "  # A server finds no network here: install the package, and name its program and entry file instead, here");
    out.emplace_back("  # and in the client's config.");
  }
  if (is_image(starter) && !starter.package->pinned) {
    out.emplace_back(
        "  # An image is named by its digest, NAME@sha256:DIGEST. Without one it is whatever the name means on the "
        "day,");
    out.emplace_back("  # and is not started.");
  }
  out.push_back(text::cat("  command: ", list(starter.command)));
  if (from_client(starter)) {
    out.push_back(
        "  # The client fills in ${NAME} and its like before it starts this, so its own words count. No secrets are "
        "given to such a");
    out.push_back("  # launch; write the real values above and remove the next line to be strict about the command.");
    out.push_back("  command_from_client: true");
  }
}

std::vector<std::string> values_of(const Starter& starter) {
  std::vector<std::string> out;
  for (const auto& [name, value] : starter.set) {
    out.push_back(text::cat(name, ": ", json::quoted(value)));
  }
  return out;
}

// The line `set: {…}` of a shipped policy with what the command sets, which comes first.
std::string merged_set(std::string_view line, const Starter& starter) {
  const std::size_t open = line.find('{') + 1;
  std::vector<std::string> values = values_of(starter);
  for (const std::string_view one : text::split(line.substr(open, line.size() - open - 1), ',')) {
    const std::string_view value = one.substr(std::min(one.find_first_not_of(' '), one.size()));
    const auto same = [&](const auto& own) { return value.starts_with(own.first + ":"); };
    if (std::ranges::none_of(starter.set, same)) {
      values.emplace_back(value);
    }
  }
  return text::cat("set: {", text::join(values, ", "), '}');
}

// `set`: the line of a shipped policy.
void add_environment(const Starter& starter, const std::vector<std::string>& set, Lines& out) {
  std::vector<std::string> pass;
  std::vector<std::string> secret;
  for (const std::string& name : starter.environment) {
    if (may_pass(name) && std::ranges::find(pass, name) == pass.end() &&
        std::ranges::find(secret, name) == secret.end()) {
      (names_secret(name) && !from_client(starter) ? secret : pass).push_back(name);
    }
  }
  if (pass.empty() && secret.empty() && set.empty() && starter.set.empty() && starter.environment_file.empty()) {
    return;
  }
  if (!pass.empty() || !secret.empty()) {
    out.emplace_back(
        "  # `pass` and `from_env` name what the client's config sets; the values stay there. For review and capture, "
        "set");
    out.emplace_back("  # them in the shell.");
  }
  if (!starter.environment_file.empty()) {
    out.push_back(text::cat("  # It also reads ", comment(starter.environment_file),
                            ": add the names of it that the server needs."));
  }
  out.emplace_back("  environment:");
  out.push_back(text::cat("    pass: [", text::join(pass, ", "), ']'));
  for (const std::string& line : set) {
    out.push_back("    " + line);
  }
  if (!starter.set.empty()) {
    out.push_back(text::cat("    set: {", text::join(values_of(starter), ", "), '}'));
  }
  if (!secret.empty()) {
    out.emplace_back("    secrets:  # never written to logs; from_file: and from_command: keep them out of the config");
    for (const std::string& name : secret) {
      out.push_back(text::cat("      ", name, ": {from_env: ", name, '}'));
    }
  }
}

std::vector<std::string> grants(const Starter& starter, bool writable, Lines& withheld) {
  std::vector<std::string> out;
  for (const NamedPath& one : starter.paths) {
    if (one.writable != writable) {
      continue;
    }
    if (!one.sensitive.empty()) {
      withheld.push_back(
          text::cat("    # Not granted: ", comment(one.path), " gives away ", comment(one.sensitive), '.'));
      continue;
    }
    const std::string grant = one.written == one.path ? json::quoted(one.path)
                                                      : text::cat("{path: ", json::quoted(one.path),
                                                                  ", at: ", json::quoted(one.written), '}');
    if (std::ranges::find(out, grant) == out.end()) {
      out.push_back(grant);
    }
  }
  return out;
}

void add_grants(const Starter& starter, Lines& out) {
  Lines withheld;
  const std::vector<std::string> read = grants(starter, false, withheld);
  const std::vector<std::string> write = grants(starter, true, withheld);
  if (!write.empty()) {
    out.emplace_back("    # What the command mounts, as it says. Move a line to `read` where that is enough.");
  } else if (!read.empty()) {
    out.emplace_back("    # What the command names. Move a line to `write` where the server has to write.");
  } else {
    out.emplace_back("    # Folders of yours that the server reads, as [/data, ~/notes].");
  }
  out.insert(out.end(), withheld.begin(), withheld.end());
  out.push_back(text::cat("    read: [", text::join(read, ", "), ']'));
  out.push_back(text::cat("    write: [", text::join(write, ", "), ']'));
}

void add_limits(const Starter& starter, Lines& out) {
  std::vector<std::string> limits;
  if (starter.memory_bytes != 0) {
    limits.push_back(text::cat("memory: ", starter.memory_bytes));
  }
  if (starter.processes != 0) {
    limits.push_back(text::cat("processes: ", starter.processes));
  }
  if (!limits.empty()) {
    out.push_back(text::cat("  limits: {", text::join(limits, ", "), '}'));
  }
}

void add_isolation(const Starter& starter, Lines& out) {
  out.emplace_back("isolation:");
  if (is_image(starter)) {
    out.push_back(
        text::cat("  backend: ", program_name(innermost(starter.command).front()) == "docker" ? "docker" : "podman"));
    out.emplace_back("  filesystem:");
  } else {
    const std::string_view runtime = runtime_of(starter.command, starter.package);
    out.emplace_back("  filesystem:");
    out.push_back(text::cat("    runtime: [", runtime, ']'));
  }
  add_grants(starter, out);
  out.emplace_back("  # Nothing is reachable. To let hosts be reached: {allow: [\"api.example.com:443\"]}");
  out.emplace_back("  network: none");
  add_limits(starter, out);
}

Lines lines_of(const Starter& starter, const std::vector<std::string>& set) {
  Lines out = {
      text::cat("# A first policy for ", starter.server, ", which is started as"),
      text::cat("#   ", comment(shown(starter.command))),
      "# It grants little on purpose; `mcp-cordon run` says on stderr what it refuses. Every key that is not here has "
      "its",
      text::cat("# default. Next: mcp-cordon review ", starter.server),
      "version: 1",
      text::cat("server: ", json::quoted(starter.server)),
  };
  add_launch(starter, out);
  add_environment(starter, set, out);
  add_isolation(starter, out);
  return out;
}

}  // namespace

bool may_pass(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) && name != "PATH" && name != "HOME" &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string_view runtime_of(const std::vector<std::string>& command, const std::optional<PackageSpec>& package) {
  const std::vector<std::string> words = innermost(command);
  const std::string program = words.empty() ? std::string() : program_name(words.front());
  const auto mentions = [&](std::string_view part) {
    return std::ranges::any_of(words, [&](const std::string& word) { return word.find(part) != std::string::npos; });
  };
  if (mentions("playwright") || mentions("puppeteer") || mentions("chrome-devtools")) {
    return "browser";
  }
  constexpr auto kNode = std::to_array<std::string_view>({"node", "nodejs", "bun", "deno", "tsx", "ts-node"});
  if ((package && package->kind == PackageKind::npm) || std::ranges::find(kNode, program) != kNode.end()) {
    return "node";
  }
  if ((package && package->kind == PackageKind::pypi) || program.starts_with("python") || program == "uv" ||
      program == "pipx" || program == "fastmcp") {
    return "python";
  }
  return program == "java" || program == "jbang" ? "java" : "system";
}

std::string starter_policy(const Starter& starter) { return text::join(lines_of(starter, {}), "\n") + "\n"; }

Result<std::string> starter_from_shipped(const Starter& starter, std::string_view shipped) {
  std::vector<std::string> set;  // of launch.environment, as written
  Lines rest;                    // what stands behind the section `catalog`: the rules, with their comments
  bool behind = false;
  bool in_catalog = false;
  for (const std::string_view line : text::split(shipped, '\n')) {
    const std::string_view content = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (content.starts_with("set: {") && content.ends_with('}')) {
      set.emplace_back(content);
    }
    behind = behind || (in_catalog && !line.empty() && line.front() != ' ');
    in_catalog = in_catalog || line == "catalog:";
    if (behind) {
      rest.emplace_back(line);
    }
  }
  if (!in_catalog || set.size() > 1) {
    return fail(Errc::policy_invalid, "the shipped policy is not laid out as expected");
  }
  Starter without = starter;
  if (!set.empty()) {
    set.front() = merged_set(set.front(), starter);
    without.set.clear();
  }
  std::erase_if(without.environment, [&](const std::string& name) {
    return !set.empty() && (set.front().find(text::cat('{', name, ':')) != std::string::npos ||
                            set.front().find(text::cat(' ', name, ':')) != std::string::npos);
  });
  Lines out = {
      text::cat("# A first policy for ", starter.server, ", from the one that is shipped for this server; started as")};
  Lines policy = lines_of(without, set);
  out.insert(out.end(), policy.begin() + 1, policy.end());
  out.insert(out.end(), rest.begin(), rest.end());
  while (out.back().empty()) {
    out.pop_back();
  }
  return text::join(out, "\n") + "\n";
}

}  // namespace cordon::clients
