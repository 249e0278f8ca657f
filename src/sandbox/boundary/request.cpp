// SPDX-License-Identifier: Apache-2.0
// The launch with the probe in place of the server, and what the probe is told: where the canaries are, and what the
// plan says, so that a check knows what to expect.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/boundary/canaries.hpp"
#include "sandbox/container_plan.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/select.hpp"

namespace cordon::sandbox::boundary {
namespace {

using Words = std::vector<std::string>;

std::string namespace_of(const char* kind) {
  std::array<char, 128> link = {};
  const ssize_t length = ::readlink(text::cat("/proc/self/ns/", kind).c_str(), link.data(), link.size());
  return length > 0 ? std::string(link.data(), static_cast<std::size_t>(length)) : std::string();
}

// As /proc/self/status writes it.
std::string octal_umask() {
  const mode_t mask = ::umask(022);
  ::umask(mask);
  std::string out = "0";
  for (const int shift : {6, 3, 0}) {
    out += static_cast<char>('0' + ((mask >> shift) & 7U));
  }
  return out;
}

void add_limit(Words& words, std::string_view name, const std::optional<std::uint64_t>& value) {
  if (value) {
    words.push_back(text::cat(name, "=", *value));
  }
}

void add_limits(Words& words, const Limits& limits) {
  add_limit(words, "processes", limits.processes);
  add_limit(words, "open_files", limits.open_files);
  add_limit(words, "file_size", limits.file_size_bytes);
  add_limit(words, "memory", limits.memory_bytes);
  add_limit(words, "cpu", limits.cpu_seconds);
}

bool below_writable(const Plan& plan, const ViewEntry& entry) {
  return std::ranges::any_of(plan.view, [&](const ViewEntry& outer) {
    return outer.kind == EntryKind::bind && outer.writable && is_within(entry.target, outer.target);
  });
}

// What there is to prove, and whom the server runs as.
void add_standing(Words& words, const Plan& plan) {
  const auto add = [&words](std::string_view name, const auto& value) { words.push_back(text::cat(name, "=", value)); };
  if (plan.own_namespaces) {
    add("namespaces", "own");
    add("hostname", plan.hostname);
  }
  if (plan.own_namespaces || plan.switch_user) {
    add("bounding", "none");
  }
  if (!plan.steps.init.empty()) {
    add("init", plan.in_container() ? kContainerStage : std::string_view("mcp-cordon-stage"));
  }
  if (plan.in_container()) {
    add("image", "yes");
  }
  add("uid", plan.uid);
  add("gid", plan.gid);
  if (plan.switch_user) {
    add("groups", "none");
  }
  if (plan.landlock_abi > 0) {
    add("landlock", plan.landlock_abi);
  }
}

void add_network(Words& words, const PlanNetwork& network) {
  if (!network.hosts()) {
    return;
  }
  words.push_back("hosts=yes");
  for (const egress::NameAddress& item : network.doors.names) {
    words.push_back(text::cat("host=", item.name, ":", egress::to_string(item.address)));
  }
  for (const egress::Door& door : network.doors.listen) {
    words.push_back(text::cat("door=", egress::to_string(door.address), ":", door.port));
  }
}

// `ours`: the folder of the canaries, whose grants have checks of their own.
void add_view(Words& words, const Plan& plan, std::string_view ours) {
  for (const ViewEntry& entry : plan.view) {
    if (entry.kind == EntryKind::tmpfs && entry.writable) {
      words.push_back(text::cat("private=", entry.target));
    }
    if (is_within(entry.target, ours)) {
      if (entry.socket) {
        words.push_back(text::cat("listed=", entry.target));
      }
      continue;
    }
    if (entry.steering) {
      if (!entry.writable) {
        words.push_back(text::cat("covered=", entry.target));
      }
      continue;
    }
    if (entry.kind == EntryKind::cover && !entry.optional) {
      words.push_back(text::cat("deny=", entry.target));
    }
    if (entry.kind == EntryKind::bind && entry.writable && !entry.grant && !entry.executable) {
      words.push_back(text::cat("private=", entry.target));  // a kept home
    } else if (entry.kind == EntryKind::bind) {
      words.push_back(text::cat("shown=", entry.target));
      if (entry.writable) {
        words.push_back(text::cat("writable=", entry.target));
      } else if (entry.grant && !below_writable(plan, entry)) {
        words.push_back(text::cat("read_only=", entry.target));
      }
    }
  }
}

}  // namespace

LaunchSpec Canaries::beside(LaunchSpec spec, Grants grants) const {
  if (spec.from_template) {
    return spec;  // its program shows what it shows
  }
  if (!spec.home_source.empty()) {
    spec.home_source = folder_ + "/home";
  }
  const auto shown = std::ranges::any_of(spec.mounts, [&](const Mount& mount) { return mount.target == probe_; });
  if (!shown) {
    spec.mounts.push_back({.source = probe_, .target = probe_, .usable_as_is = true});
  }
  const std::string read = folder_ + "/read";
  const std::string write = folder_ + "/write";
  spec.mounts.push_back({.source = read, .target = read, .usable_as_is = true});
  spec.mounts.push_back({.source = write, .target = write, .writable = true, .usable_as_is = true});
  if (grants == Grants::nested) {
    const std::string named = write + "/.zed";
    spec.mounts.push_back({.source = named, .target = named, .writable = true, .usable_as_is = true});
    spec.mounts.push_back(
        {.source = write + "/deep/er/fixed", .target = write + "/deep/er/fixed", .usable_as_is = true});
  }
  if (grants != Grants::plain) {
    for (const char* masked : {"/read/secret.txt", "/read/private", "/write/secret.txt", "/write/deep/er/secret.txt"}) {
      spec.deny.push_back(folder_ + masked);
    }
  }
  return spec;
}

std::vector<std::string> Canaries::arguments(const Plan& plan, bool from_template) const {
  Words words = {"mcp-cordon-probe"};
  const auto add = [&words](std::string_view name, const auto& value) { words.push_back(text::cat(name, "=", value)); };
  const auto shows = [&plan](const std::string& place) {
    return std::ranges::any_of(plan.view, [&](const ViewEntry& entry) { return entry.target == place; });
  };
  add("token", token_);
  add("marker", from_template ? std::string("-") : folder_ + "/read/marker");
  for (const char* kind : {"pid", "mnt", "net", "user", "ipc"}) {
    add(text::cat("outside_", kind), namespace_of(kind));
  }
  if (!from_template) {
    add_standing(words, plan);
    add("cwd", plan.working_directory);
    add("umask", octal_umask());
  }
  add("key", key_path());
  add("config", folder_ + "/outside/client.json");
  add("socket", folder_ + "/outside/socket");
  add("abstract", abstract_);
  add("port", port_);
  add("pid", process_);
  add("shm", shared_memory_);
  add("variable", kCanaryVariable);
  add("descriptor", leak_.get());
  add("unlisted", folder_ + "/write/socket");
  for (const char* grant : {"read", "write"}) {
    if (shows(text::cat(folder_, "/", grant))) {
      add(grant, text::cat(folder_, "/", grant));
    }
  }
  if (plan.in_container()) {
    add("image", "yes");
  }
  if (plan.unix_sockets != UnixSockets::allowed) {
    add("unix_calls", plan.unix_sockets == UnixSockets::refused ? "none" : "supervised");
  }
  if (plan.syscall_filter && plan.filter.strict) {
    add("calls", "strict");
  }
  if (plan.syscall_filter && plan.filter.nested_userns) {
    add("calls", "nested");
  }
  if (shows(folder_ + "/read/secret.txt")) {
    add("masks", "yes");
  }
  if (shows(folder_ + "/write/.vscode")) {
    add("steering", "yes");
  }
  if (shows(folder_ + "/write/deep/er/fixed/file") || shows(folder_ + "/write/deep/er/fixed")) {
    add("nested", "yes");
  }
  for (const std::string& variable : plan.environment) {
    add("environment", std::string_view(variable).substr(0, variable.find('=')));
  }
  add_limits(words, plan.limits);
  add_network(words, plan.network);
  add_view(words, plan, folder_);
  return words;
}

Result<Plan> Canaries::plan(LaunchSpec spec, const HostFacts& facts, std::string_view lingering) const {
  // Once to learn what the plan says, once more with that as the probe's arguments.
  StandIn stand_in{.program = probe_, .device = probe_identity_.device, .inode = probe_identity_.inode};
  stand_in.argv = {"mcp-cordon-probe"};
  spec.stand_in = stand_in;
  const Result<Plan> server = select(spec, facts);
  if (!server) {
    return server;
  }
  spec.stand_in->argv = arguments(*server, spec.from_template);
  if (!lingering.empty()) {
    spec.stand_in->argv.push_back(text::cat("linger=", lingering));
  }
  return select(spec, facts);
}

}  // namespace cordon::sandbox::boundary
