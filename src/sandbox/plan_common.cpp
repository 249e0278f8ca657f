// SPDX-License-Identifier: Apache-2.0
#include "sandbox/plan_common.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "sandbox/command_template.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

// Enough for thread pools, not for a fork bomb; chosen per user namespace, so that other programs do not count.
constexpr std::uint64_t kDefaultProcesses = 1024;
constexpr std::uint64_t kDefaultOpenFiles = 4096;

Limits effective_limits(const LaunchSpec& spec) {
  const auto either = [](const auto& written, const auto& by_default) { return written ? written : by_default; };
  const Limits& defaults = spec.default_limits;
  return {.memory_bytes = either(spec.limits.memory_bytes, defaults.memory_bytes),
          .processes = either(spec.limits.processes, defaults.processes).value_or(kDefaultProcesses),
          .open_files = either(spec.limits.open_files, defaults.open_files).value_or(kDefaultOpenFiles),
          .file_size_bytes = either(spec.limits.file_size_bytes, defaults.file_size_bytes),
          .cpu_seconds = either(spec.limits.cpu_seconds, defaults.cpu_seconds)};
}

Status check_program(const LaunchSpec& spec, const HostFacts& facts) {
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return fail(Errc::policy_invalid, "launch.command is empty", "launch.command");
  }
  for (const std::string& argument : spec.argv) {
    if (argument.find('\0') != std::string::npos) {
      return fail(Errc::policy_invalid, "an argument contains a NUL byte", "launch.command");
    }
  }
  if (!spec.image.reference.empty()) {
    return {};  // looked up inside
  }
  if (!is_normal_path(spec.argv.front())) {
    return fail(Errc::internal, "argv[0] was not resolved to an absolute path", text::printable(spec.argv.front()));
  }
  if (!facts.program.found) {
    return fail(Errc::launch_failed, "not an executable file", text::printable(spec.argv.front()),
                "check launch.command");
  }
  return {};
}

Status check_environment(const LaunchSpec& spec) {
  std::set<std::string_view> names;
  for (const std::string& variable : spec.environment) {
    const std::size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos || variable.find('\0') != std::string::npos) {
      return fail(Errc::policy_invalid, "an environment entry is not NAME=value", "launch.environment");
    }
    const std::string_view variable_name = std::string_view(variable).substr(0, equals);
    if (!names.insert(variable_name).second) {
      return fail(Errc::policy_invalid, text::cat("set twice: ", text::printable(variable_name)), "launch.environment");
    }
  }
  return {};
}

std::string home_inside(const LaunchSpec& spec) {
  if (!shows_host_paths(spec.backend)) {
    return std::string(kHomeInside);
  }
  return spec.home_source.empty() ? "/" : spec.home_source;
}

// Landlock adds up what is allowed on the way to a file, across mounts: below a writable place it allows writing.
bool inherits_writing(std::span<const ViewEntry> view) {
  return std::any_of(view.begin(), view.end(), [view](const ViewEntry& entry) {
    return entry.kind == EntryKind::bind && !entry.writable && !entry.steering &&
           std::any_of(view.begin(), view.end(), [&entry](const ViewEntry& outer) {
             const bool holds = outer.kind == EntryKind::bind || outer.kind == EntryKind::tmpfs;
             return holds && outer.writable && is_within(entry.target, outer.target);
           });
  });
}

}  // namespace

void say_filter(Statements& out, const LaunchSpec& spec, const HostFacts& facts) {
  std::string_view lacks;
  if (!spec.syscall_filter) {
    lacks = "switched_off";
  } else if (!facts.seccomp) {
    lacks = "no_seccomp";
  } else if (facts.architecture.empty()) {
    lacks = "platform";
  }
  for (const std::string_view detail : {"syscalls.filter", "syscalls.user_namespaces"}) {
    if (!lacks.empty()) {
      out.lacks(detail, Strength::no, std::string(lacks));
    } else {
      out.enforced(detail, spec.strict_syscalls ? "seccomp allow-list, strict" : "seccomp allow-list");
    }
  }
  if (allows_nested_userns(spec)) {
    out.lacks("syscalls.user_namespaces", Strength::no, "nested_userns");
  }
}

namespace {

// Only a limit that the policy writes is worth a group of its own: a default is `partial`.
bool wants_groups(const LaunchSpec& spec, const GroupFacts& groups) {
  return spec.limits.memory_bytes && groups.trial.works;
}

bool groups_count_processes(const LaunchSpec& spec, const GroupFacts& groups) {
  return wants_groups(spec, groups) && std::ranges::any_of(groups.places, &GroupPlace::processes);
}

void say_memory(Statements& out, const LaunchSpec& spec, const GroupFacts& groups) {
  if (wants_groups(spec, groups)) {
    out.enforced("limits.memory", "control group of the launch");
  } else if (!spec.limits.memory_bytes) {
    out.lacks("limits.memory", Strength::partial, "RLIMIT_DATA of each process, by default");
  } else {
    const Trial& trial = groups.trial;
    out.lacks("limits.memory", Strength::partial, trial.reason.empty() ? "no_cgroup_delegation" : trial.reason,
              trial.hint, trial.error_number);
  }
}

ControlGroup group_below(const GroupPlace& place, const Limits& limits) {
  ControlGroup group{.folder = place.folder, .unified = place.unified, .leaf = place.leaf};
  const auto add = [&group](std::string_view name, std::string value, bool optional = false) {
    group.files.push_back({std::string(name), std::move(value), optional});
  };
  if (place.memory) {
    const std::string bytes = std::to_string(limits.memory_bytes.value_or(0));
    add(place.unified ? "memory.max" : "memory.limit_in_bytes", bytes);
    // Else swap would be as much again. Version 1 counts both together, version 2 apart.
    add(place.unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes", place.unified ? "0" : bytes, true);
    if (place.unified) {
      add("memory.oom.group", "1", true);  // all of the tree, as our watcher does with version 1
    }
  }
  if (place.processes) {
    // Ours are in it, too: init, and bubblewrap's process outside.
    constexpr std::uint64_t kOurs = 3;
    add("pids.max", std::to_string(limits.processes.value_or(kDefaultProcesses) + kOurs));
  }
  return group;
}

}  // namespace

void choose_groups(Plan& plan, const LaunchSpec& spec, const HostFacts& facts) {
  if (!wants_groups(spec, facts.groups)) {
    return;
  }
  for (const GroupPlace& place : facts.groups.places) {
    plan.groups.push_back(group_below(place, plan.limits));
  }
  const auto after = std::ranges::find(plan.steps.outer, Step::descriptors);
  plan.steps.outer.insert(after == plan.steps.outer.end() ? after : after + 1, Step::groups);
}

void say_limits(Statements& out, const LaunchSpec& spec, const GroupFacts& groups) {
  out.enforced("limits.open_files", "RLIMIT_NOFILE");
  const Limits limits = effective_limits(spec);
  if (limits.file_size_bytes) {
    out.enforced("limits.file_size", "RLIMIT_FSIZE");
  }
  if (limits.cpu_seconds) {
    out.enforced("limits.cpu_seconds", "RLIMIT_CPU");
  }
  if (groups_count_processes(spec, groups)) {
    out.enforced("limits.processes", "control group of the launch");
  }
  if (limits.memory_bytes) {
    say_memory(out, spec, groups);
  }
}

void choose_filter(Plan& plan, const LaunchSpec& spec, const HostFacts& facts) {
  plan.syscall_filter = spec.syscall_filter && facts.seccomp && !facts.architecture.empty();
  plan.filter = {.strict = spec.strict_syscalls, .nested_userns = allows_nested_userns(spec)};
  plan.unix_sockets = allowed_unix_sockets(spec, facts, plan.view);
}

Error refused(std::string_view backend, std::string_view requirement, const Trial& trial) {
  return to_error({.backend = std::string(backend),
                   .requirement = std::string(requirement),
                   .reason = trial.reason,
                   .error_number = trial.error_number,
                   .hint = trial.hint});
}

Result<Plan> common_plan(const LaunchSpec& spec, const HostFacts& facts, std::string_view backend) {
  if (auto status = check_program(spec, facts); !status) {
    return std::unexpected(status.error());
  }
  if (auto status = check_environment(spec); !status) {
    return std::unexpected(status.error());
  }
  if (spec.strict_syscalls && allows_nested_userns(spec)) {
    return fail(Errc::policy_invalid, "strict leaves out what a browser and user namespaces need", "isolation.syscalls",
                "write default, or take the preset browser and nested_userns out");
  }
  if (spec.strict_syscalls && !spec.network.empty()) {
    return fail(Errc::policy_invalid, "strict leaves out what reaching a host needs", "isolation.syscalls",
                "write default, or network: none");
  }
  if (!facts.user_error.empty() || facts.server_uid == 0 || facts.server_gid == 0) {
    return std::unexpected(
        to_error({.backend = std::string(backend),
                  .reason = "running_as_root",
                  .hint = facts.user_error.empty() ? "a server never runs as uid or gid 0" : facts.user_error}));
  }
  Plan plan;
  plan.backend = std::string(backend);
  plan.argv = spec.argv;
  plan.executable = spec.executable.empty() ? spec.argv.front() : spec.executable;
  plan.executable_identity = facts.program.identity;
  if (spec.stand_in && spec.from_template) {
    std::vector<std::string> command = spec.stand_in->argv;
    command.at(0) = spec.stand_in->program;
    plan.argv = expand_template(spec.template_items, command, "{cwd}");
    plan.argv.at(0) = spec.argv.front();
  } else if (spec.stand_in) {
    plan.argv = spec.stand_in->argv;
    plan.executable = spec.stand_in->program;
    plan.executable_identity = {spec.stand_in->device, spec.stand_in->inode};
  }
  plan.environment = spec.environment;
  plan.hostname = std::string(kHostnameInside);
  plan.switch_user = facts.root();
  plan.uid = facts.server_uid;
  plan.gid = facts.server_gid;
  plan.limits = effective_limits(spec);
  plan.working_directory = spec.cwd.empty() ? home_inside(spec) : spec.cwd;
  if (!is_normal_path(plan.working_directory)) {
    return fail(Errc::policy_invalid, "not an absolute path", "launch.cwd");
  }
  if (auto status = choose_network(plan, spec); !status) {
    return std::unexpected(status.error());
  }
  return plan;
}

Statements isolated_statements(const LaunchSpec& spec, const HostFacts& facts, std::string_view by,
                               std::span<const ViewEntry> view) {
  std::string landlock = facts.landlock_abi > 0 ? text::cat(", Landlock ABI ", facts.landlock_abi)
                                                : std::string(", no Landlock on this kernel");
  if (facts.landlock_abi > 0 && inherits_writing(view)) {
    landlock += ", which does not hold where a read-only place lies in a writable one";
  }
  const std::string private_root = text::cat("private root built by ", by);
  Statements out;
  out.enforced("filesystem.read", private_root);
  out.enforced("filesystem.write", text::cat(private_root, landlock));
  if (!spec.deny.empty()) {
    out.enforced("filesystem.deny", "covered");
  }
  out.enforced("filesystem.proc", spec.proc_minimal ? "own /proc with processes only" : "own /proc, masked");
  out.enforced("network.outside", "network namespace with lo only");
  say_network(out, spec);
  out.enforced("processes.own", "pid namespace").enforced("processes.end", "own init");
  out.enforced("ipc.own", text::cat("ipc namespace", facts.landlock_abi >= 6 ? ", Landlock scopes" : ""));
  out.enforced("syscalls.privileges", "no_new_privs, capabilities zero");
  say_filter(out, spec, facts);
  out.enforced("environment.listed", "listed variables only");
  out.enforced("descriptors.standard", "the three standard streams only");
  out.enforced("devices.listed", "null, zero, full, random, urandom");
  say_limits(out, spec, facts.groups);
  // The user namespace of the launch has its own count, which holds nothing but the launch.
  out.enforced("limits.processes", "RLIMIT_NPROC in a user namespace of its own");
  out.say(steering_guarantee(facts, view));
  out.say(unix_socket_guarantee(spec, facts, view));
  return out;
}

Result<Plan> shared_plan(const LaunchSpec& spec, const HostFacts& facts, std::string_view backend) {
  if (facts.landlock_abi == 0) {
    return std::unexpected(
        refused(backend, {}, {.reason = "landlock_abi0", .hint = "a kernel that was started with Landlock is needed"}));
  }
  if (allows_nested_userns(spec)) {
    return std::unexpected(
        refused(backend, {}, {.reason = "not_offered", .hint = "for a browser, use native or bubblewrap"}));
  }
  if (spec.proc_minimal) {
    return std::unexpected(
        refused(backend, "filesystem.proc",
                {.reason = "not_offered", .hint = text::cat(backend, " mounts no such /proc: use proc: masked")}));
  }
  auto plan = common_plan(spec, facts, backend);
  if (!plan) {
    return plan;
  }
  auto view = host_view(spec, facts, backend);
  if (!view) {
    return std::unexpected(view.error());
  }
  plan->view = std::move(*view);
  plan->hostname.clear();
  plan->shared_host = true;
  plan->landlock_abi = facts.landlock_abi;
  choose_filter(*plan, spec, facts);
  plan->unix_sockets = UnixSockets::refused;
  return plan;
}

PlanSteps tool_steps(const Plan& plan) {
  PlanSteps steps;
  steps.outer = {Step::session, Step::descriptors, Step::sources};
  if (plan.switch_user) {
    steps.outer.push_back(Step::identity);
  }
  steps.init = {Step::identify_sources};
  steps.server = server_steps(plan);
  return steps;
}

Statements shared_statements(const LaunchSpec& spec, const HostFacts& facts, const Plan& plan) {
  constexpr int kTruncateAbi = 3;
  const std::string landlock = text::cat("Landlock ABI ", plan.landlock_abi);
  Statements out;
  out.enforced("filesystem.read", landlock);
  say_filter(out, spec, facts);
  if (!plan.syscall_filter) {
    // Landlock alone leaves attributes of files, UDP, sockets by path, and System V and POSIX ipc.
    for (const std::string_view detail : {"filesystem.write", "network.outside", "ipc.own", "ipc.unix_sockets"}) {
      out.lacks(detail, Strength::no, spec.syscall_filter ? "no_seccomp" : "switched_off");
    }
  } else {
    out.enforced("network.outside", "seccomp: no sockets but connected pairs");
    out.enforced("ipc.own", text::cat("seccomp: no sockets, no System V or POSIX ipc; ", landlock));
    out.enforced("ipc.unix_sockets", "seccomp: no sockets but connected pairs");
    out.enforced("filesystem.write", text::cat(landlock, "; seccomp for modes, owners, times and attributes"));
    if (plan.landlock_abi < kTruncateAbi) {
      out.lacks("filesystem.write", Strength::no, text::cat("landlock_abi", plan.landlock_abi),
                "files can be emptied: a kernel of version 6.2 or later keeps from that");
    }
  }
  out.lacks("filesystem.steering", Strength::no, "not_offered",
            "nothing can be covered here: grant folders without repositories and settings, or use native");
  out.enforced("processes.end", "two guards that adopt orphans");
  out.enforced("syscalls.privileges", "no_new_privs, capabilities zero");
  out.enforced("environment.listed", "listed variables only");
  out.enforced("descriptors.standard", "the three standard streams only");
  out.enforced("devices.listed", text::cat("null, zero, full, random, urandom: ", landlock));
  say_limits(out, spec, {});
  out.lacks("limits.processes", Strength::partial, "counted_per_uid");
  return out;
}

std::vector<Step> server_steps(const Plan& plan) {
  std::vector<Step> steps = {Step::server_session, Step::working_directory, Step::limits, Step::no_new_privileges};
  if (plan.landlock_abi > 0) {
    steps.push_back(Step::landlock);
  }
  steps.push_back(Step::capabilities);
  if (plan.syscall_filter) {
    steps.push_back(Step::syscalls);
  }
  steps.push_back(Step::attest);
  return steps;
}

}  // namespace cordon::sandbox
