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
                                   {"node", "python", "system", "none"}, {"java", "browser"}, ListEmptiness::refused);
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

void read_network(Faults& faults, const yaml::Node& node) {
  if (node.kind != yaml::Kind::mapping) {
    read_word(faults, node, "isolation.network", {"none"}, {});
    return;
  }
  const Section section(faults, node, "isolation.network", {}, {"allow", "sni", "mode"});
  if (node.members.empty()) {
    faults.add(node.position, "isolation.network must be none, not a mapping", "write none");
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

void read_nested_userns(Faults& faults, const yaml::Member& member) {
  if (read_boolean(faults, member.value, "isolation.nested_userns").value_or(false)) {
    faults.unsupported(member.value.position, "isolation.nested_userns: true", "write false, or leave it out");
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
                           {"podman", Backend::podman},
                           {"docker", Backend::docker},
                           {"none", Backend::none}},
                          {"landlock", "firejail", "srt", "seatbelt", "command"});
  section.text("reason", isolation.reason, {TextForm::free, Emptiness::refused});
  if (isolation.backend == Backend::none && section.find("reason") == nullptr) {
    faults.add(section.find("backend")->value.position,
               "isolation.backend: none switches isolation off and needs a reason",
               "add isolation.reason: \"...\", or write auto");
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
                         "limits", "syscalls", "reason"});
  read_backend(faults, section, isolation);
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
    read_network(faults, network->value);
  }
  if (const yaml::Member* sockets = section.find("unix_sockets")) {
    read_unix_sockets(faults, *sockets, isolation);
  }
  section.choice<Proc>("proc", isolation.proc, {{"masked", Proc::masked}, {"minimal", Proc::minimal}});
  if (const yaml::Member* nested = section.find("nested_userns")) {
    read_nested_userns(faults, *nested);
  }
  if (const yaml::Member* user = section.find("user")) {
    read_user(faults, user->value, isolation);
  }
  if (const yaml::Member* limits = section.find("limits")) {
    read_limits(faults, limits->value, isolation.limits);
  }
  section.choice<Syscalls>("syscalls", isolation.syscalls, {{"default", Syscalls::standard}, {"off", Syscalls::off}},
                           {"strict"});
  return isolation;
}

}  // namespace cordon::formats
