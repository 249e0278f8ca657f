// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

constexpr Range kAnyCount = {1, 1'000'000'000};
constexpr Range kAnySize = {1, std::uint64_t{1} << 50U};

void read_filesystem(Faults& faults, const yaml::Node& node, policy::Isolation& isolation) {
  const Section section(faults, node, "isolation.filesystem", {"runtime", "read", "write", "deny"});
  if (const yaml::Member* runtime = section.find("runtime")) {
    if (isolation.backend == policy::Backend::podman || isolation.backend == policy::Backend::docker) {
      faults.add(runtime->position,
                 "isolation.filesystem.runtime shows programs of this machine; an image brings its own",
                 "take runtime out");
    }
    isolation.runtime = read_words(faults, runtime->value, "isolation.filesystem.runtime",
                                   {"node", "python", "java", "browser", "system", "none"}, {}, ListEmptiness::refused);
    const bool has_none = std::ranges::find(isolation.runtime, "none") != isolation.runtime.end();
    if (has_none && isolation.runtime.size() > 1) {
      faults.add(runtime->value.position, "isolation.filesystem.runtime names none beside other presets",
                 "write [none] alone, or leave none out");
    }
  }
  const auto grants = [&](std::string_view key, GrantKind kind, std::vector<policy::Grant>& out) {
    if (const yaml::Member* member = section.find(key)) {
      out = read_grants(faults, member->value, section.path(key), kind);
    }
  };
  grants("read", GrantKind::read, isolation.read);
  grants("write", GrantKind::write, isolation.write);
  grants("deny", GrantKind::deny, isolation.deny);
  check_repeated_grants(faults, isolation);
}

void read_network_of_policy(Faults& faults, const yaml::Node& node, policy::Isolation& isolation) {
  isolation.network = read_network(faults, node, NetworkReader::policy);
  if (!isolation.network.allow.empty() && isolation.backend == policy::Backend::none) {
    faults.add(node.position, "isolation.network allows single hosts, which isolation.backend: none cannot keep to",
               "name a backend that isolates, or write network: none");
  }
}

void read_unix_sockets(Faults& faults, const yaml::Member& member, policy::Isolation& isolation) {
  if (member.value.kind != yaml::Kind::sequence) {
    if (!read_word(faults, member.value, "isolation.unix_sockets", {"none"}, {})) {
      return;
    }
    isolation.unix_sockets.clear();
    return;
  }
  isolation.unix_sockets = read_grants(faults, member.value, "isolation.unix_sockets", GrantKind::socket);
  for (auto one = isolation.unix_sockets.begin(); one != isolation.unix_sockets.end(); ++one) {
    const auto same = [&](const policy::Grant& other) { return other.path == one->path; };
    if (std::any_of(isolation.unix_sockets.begin(), one, same)) {
      faults.add(one->position, text::cat("isolation.unix_sockets names ", quote(one->path), " twice"),
                 "keep one of them");
    }
  }
}

void read_user(Faults& faults, const yaml::Node& node, policy::Isolation& isolation) {
  if (node.kind == yaml::Kind::null) {
    return;
  }
  auto user = read_text(faults, node, "isolation.user");
  if (!user) {
    return;
  }
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool begins_well =
      user->front() != '-' && user->front() != '.' && !(user->front() >= '0' && user->front() <= '9');
  if (user->size() > 32 || !begins_well || !std::ranges::all_of(*user, fits) || *user == "root") {
    faults.add(node.position, text::cat("isolation.user must name an account other than root, not ", quote(*user)),
               "name a dedicated account, or write null");
    return;
  }
  isolation.user = std::move(*user);
}

void read_limits(Faults& faults, const yaml::Node& node, policy::ResourceLimits& limits) {
  const Section section(faults, node, "isolation.limits",
                        {"memory", "processes", "open_files", "file_size", "cpu_seconds"});
  const auto count = [&](std::string_view key, std::optional<std::uint64_t>& out) {
    if (const yaml::Member* member = section.find(key)) {
      out = read_integer(faults, member->value, section.path(key), kAnyCount);
    }
  };
  const auto size = [&](std::string_view key, std::optional<std::uint64_t>& out) {
    if (const yaml::Member* member = section.find(key)) {
      out = read_size(faults, member->value, section.path(key), kAnySize);
    }
  };
  size("memory", limits.memory_bytes);
  count("processes", limits.processes);
  count("open_files", limits.open_files);
  size("file_size", limits.file_size_bytes);
  count("cpu_seconds", limits.cpu_seconds);
}

void read_backend(Faults& faults, const Section& section, policy::Isolation& isolation) {
  using policy::Backend;
  section.choice<Backend>("backend", isolation.backend,
                          {{"auto", Backend::automatic},
                           {"native", Backend::native},
                           {"bubblewrap", Backend::bubblewrap},
                           {"landlock", Backend::landlock},
                           {"podman", Backend::podman},
                           {"docker", Backend::docker},
                           {"firejail", Backend::firejail},
                           {"srt", Backend::srt},
                           {"seatbelt", Backend::seatbelt},
                           {"command", Backend::command},
                           {"none", Backend::none}});
  section.text("reason", isolation.reason, {TextForm::free, Emptiness::refused});
  if (isolation.backend == Backend::none && section.find("reason") == nullptr) {
    faults.add(section.find("backend")->value.position,
               "isolation.backend: none switches isolation off and needs a reason",
               "add isolation.reason: \"...\", or write auto");
  }
}

// A key that one backend needs and no other takes. Null when there is nothing to read.
const yaml::Member* key_of_backend(Faults& faults, const Section& section, std::string_view key, bool named,
                                   std::string_view backend, std::string_view example) {
  const yaml::Member* member = section.find(key);
  if (member == nullptr && named) {
    faults.add(section.find("backend")->value.position,
               text::cat("isolation.backend: ", backend, " needs ", section.path(key)), text::cat("add ", example));
  }
  if (member != nullptr && !named) {
    faults.add(member->position, text::cat(section.path(key), " is for isolation.backend: ", backend, " alone"),
               text::cat("write backend: ", backend, ", or leave it out"));
  }
  return member;
}

void read_srt(Faults& faults, const Section& section, policy::Isolation& isolation) {
  const yaml::Member* member =
      key_of_backend(faults, section, "srt", isolation.backend == policy::Backend::srt, "srt",
                     "isolation.srt: /PATH/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js");
  if (member == nullptr) {
    return;
  }
  auto path = read_text(faults, member->value, "isolation.srt");
  if (!path) {
    return;
  }
  if (!(path->starts_with('/') || path->starts_with("~/")) || !path->ends_with("/dist/cli.js")) {
    faults.add(member->value.position,
               text::cat("isolation.srt must be the path of the package's dist/cli.js, not ", quote(*path)),
               "write it absolute, or beginning with ~/");
    return;
  }
  isolation.srt = std::move(*path);
}

// What looks like a placeholder and is none: {word}.
std::string unknown_placeholder(std::string_view item) {
  for (std::size_t open = item.find('{'); open != std::string_view::npos; open = item.find('{', open + 1)) {
    const std::size_t close = item.find_first_not_of("abcdefghijklmnopqrstuvwxyz-_", open + 1);
    if (close == std::string_view::npos || item[close] != '}' || close == open + 1) {
      continue;
    }
    const std::string_view word = item.substr(open, close - open + 1);
    if (word != "{cwd}" && (word != "{command}" || word != item)) {
      return std::string(word);
    }
  }
  return {};
}

void read_template(Faults& faults, const Section& section, policy::Isolation& isolation) {
  const yaml::Member* member =
      key_of_backend(faults, section, "template", isolation.backend == policy::Backend::command, "command",
                     "isolation.template: [/usr/bin/PROGRAM, OPTION, \"{command}\"]");
  if (member == nullptr) {
    return;
  }
  auto items = read_texts(faults, member->value, "isolation.template", {TextForm::free, Emptiness::allowed},
                          ListEmptiness::refused);
  if (!items) {
    return;
  }
  const Position position = member->value.position;
  bool fine = true;
  const auto fault = [&](std::string detail, std::string remedy) {
    faults.add(position, std::move(detail), std::move(remedy));
    fine = false;
  };
  if (!items->front().starts_with('/')) {
    fault(text::cat("isolation.template begins with ", quote(items->front()), ", which is no absolute path"),
          "name the program by its path: PATH is not searched for it");
  }
  if (std::ranges::count(*items, "{command}") != 1) {
    fault("isolation.template must have the item {command} once",
          "put \"{command}\" where the server's command belongs");
  }
  for (const std::string& item : *items) {
    if (const std::string word = unknown_placeholder(item); !word.empty()) {
      fault(text::cat("isolation.template has ", quote(word), " in ", quote(item)),
            "{command} is an item of its own, {cwd} may stand anywhere; there are no others");
    }
  }
  if (fine) {
    isolation.command_template = std::move(*items);
  }
}

}  // namespace

namespace {

// Said here, with a place, and once more by the plan.
void check_strict(Faults& faults, const Section& section, const policy::Isolation& isolation) {
  const bool browser = std::ranges::find(isolation.runtime, "browser") != isolation.runtime.end();
  if (isolation.syscalls == policy::Syscalls::strict && (browser || isolation.nested_userns)) {
    faults.add(section.find("syscalls")->value.position,
               text::cat("isolation.syscalls: strict leaves out what ",
                         browser ? "the preset browser" : "isolation.nested_userns", " needs"),
               "write default, or take the other out");
  }
}

}  // namespace

policy::Isolation read_isolation(Faults& faults, const yaml::Member& member) {
  using policy::Proc;
  using policy::Syscalls;
  policy::Isolation isolation;
  isolation.position = member.position;
  const Section section(faults, member.value, "isolation",
                        {"backend", "require", "filesystem", "network", "unix_sockets", "proc", "nested_userns", "user",
                         "limits", "syscalls", "reason", "srt", "template"});
  read_backend(faults, section, isolation);
  read_srt(faults, section, isolation);
  read_template(faults, section, isolation);
  if (const yaml::Member* require = section.find("require")) {
    isolation.require = read_words(
        faults, require->value, "isolation.require",
        {"filesystem", "network", "processes", "ipc", "syscalls", "environment", "descriptors", "devices", "limits"},
        {}, ListEmptiness::allowed);
  } else if (isolation.backend == policy::Backend::none) {
    // Named, with a reason: the default of requiring everything would make it a word without use.
    isolation.require.clear();
  }
  if (const yaml::Member* filesystem = section.find("filesystem")) {
    read_filesystem(faults, filesystem->value, isolation);
  }
  if (const yaml::Member* network = section.find("network")) {
    read_network_of_policy(faults, network->value, isolation);
  }
  if (const yaml::Member* sockets = section.find("unix_sockets")) {
    read_unix_sockets(faults, *sockets, isolation);
  }
  section.choice<Proc>("proc", isolation.proc, {{"masked", Proc::masked}, {"minimal", Proc::minimal}});
  if (const yaml::Member* nested = section.find("nested_userns")) {
    isolation.nested_userns = read_boolean(faults, nested->value, "isolation.nested_userns").value_or(false);
  }
  if (const yaml::Member* user = section.find("user")) {
    read_user(faults, user->value, isolation);
  }
  if (const yaml::Member* limits = section.find("limits")) {
    read_limits(faults, limits->value, isolation.limits);
  }
  section.choice<Syscalls>("syscalls", isolation.syscalls,
                           {{"default", Syscalls::standard}, {"strict", Syscalls::strict}, {"off", Syscalls::off}});
  check_strict(faults, section, isolation);
  return isolation;
}

}  // namespace cordon::formats
