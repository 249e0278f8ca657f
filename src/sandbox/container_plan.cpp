// SPDX-License-Identifier: Apache-2.0
#include "sandbox/container_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "sandbox/container_command.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/seccomp_profile.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

// Enough for whatever runs under that uid elsewhere on the machine: RLIMIT_NPROC counts it all. The control group is
// what limits the container.
constexpr std::uint64_t kOtherProcesses = 16384;
// Ours are in the control group, too: init, and what the runtime needs to start it.
constexpr std::uint64_t kOwnProcesses = 8;

class Arguments {
 public:
  void add(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) {
      list_.push_back({.text = std::string(text)});
    }
  }
  void at_launch(std::string_view flag, std::string_view text) {
    add({flag});
    list_.push_back({.kind = ToolArgumentKind::launch, .text = std::string(text)});
  }
  void mount(std::size_t entry) {
    add({"--mount"});
    list_.push_back({.kind = ToolArgumentKind::mount, .entry = static_cast<std::uint32_t>(entry)});
  }
  std::vector<ToolArgument> take() { return std::move(list_); }

 private:
  std::vector<ToolArgument> list_;
};

// What podman has to be told to hide: everything in /proc and /sys that the view covers.
std::string masks(const Plan& plan) {
  std::string out;
  for (const ViewEntry& entry : plan.view) {
    if (entry.kind == EntryKind::cover && entry.optional) {
      out += text::cat(out.empty() ? "mask=" : ":", entry.target);
    }
  }
  return out;
}

// Made by the engine itself.
bool is_engines_own(const ViewEntry& entry) {
  return entry.optional || entry.kind == EntryKind::device || entry.kind == EntryKind::proc ||
         entry.target == "/dev/shm";
}

std::uint64_t shared_memory(const Plan& plan) {
  const auto found = std::ranges::find(plan.view, "/dev/shm", &ViewEntry::target);
  return found == plan.view.end() ? 0 : found->size_bytes;
}

void add_limits(Arguments& out, const Plan& plan, const Engine& engine) {
  if (engine.facts.limits) {
    out.add({"--pids-limit", std::to_string(plan.limits.processes.value_or(0) + kOwnProcesses)});
    if (plan.limits.memory_bytes) {
      const std::string bytes = std::to_string(*plan.limits.memory_bytes);
      // The same for memory and swap together: no swap.
      out.add({"--memory", bytes, "--memory-swap", bytes});
    }
  }
  const auto ulimit = [&](std::string_view name, std::uint64_t wanted, std::uint64_t most) {
    const std::string value = std::to_string(std::min(wanted, most));
    out.add({"--ulimit", text::cat(name, "=", value, ":", value)});
  };
  ulimit("nofile", plan.limits.open_files.value_or(0), engine.facts.most_open_files);
  ulimit("nproc", kOtherProcesses, engine.facts.most_processes);
  // Not by us inside, where the profile refuses to change it (stage/privileges.cpp).
  ulimit("core", 1, engine.facts.most_core);
}

// Things that podman does unless it is told not to, and docker does not know.
void add_podman(Arguments& out, const Plan& plan, const Engine& engine) {
  out.add({"--read-only-tmpfs=false", "--image-volume", "ignore", "--systemd=false", "--http-proxy=false", "--no-hosts",
           "--pid", "private", "--uts", "private", "--security-opt", masks(plan)});
  if (engine.facts.rootless) {
    out.add({"--userns", text::cat("keep-id:uid=", plan.uid, ",gid=", plan.gid)});
  }
}

Status check_paths(const Plan& plan) {
  for (const ViewEntry& entry : plan.view) {
    // --mount takes a list with commas.
    if (entry.source.find_first_of(",\"\n") != std::string::npos ||
        entry.target.find_first_of(",\"\n") != std::string::npos) {
      return fail(Errc::policy_invalid, "a path with a comma, a quote or a line break cannot be given to a container",
                  text::printable(entry.source.empty() ? entry.target : entry.source), "rename it");
    }
  }
  return {};
}

std::vector<std::string> command_of(const LaunchSpec& spec, const ImageFacts& image) {
  std::vector<std::string> out;
  if (spec.image.entrypoint) {
    if (!spec.image.entrypoint->empty()) {
      out.push_back(*spec.image.entrypoint);
    }
  } else {
    out = image.entrypoint;
  }
  // As the engines do: arguments replace the image's, and so does another entry point.
  const bool own = !spec.argv.empty() || spec.image.entrypoint;
  const std::vector<std::string>& rest = own ? spec.argv : image.command;
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

std::string_view variable_name(std::string_view variable) { return variable.substr(0, variable.find('=')); }

// The image is part of what was reviewed, so its variables are listed ones. The policy's come first, save PATH: ours
// would name folders of this machine.
std::vector<std::string> environment_of(const LaunchSpec& spec, const ImageFacts& image) {
  std::vector<std::string> out = spec.environment;
  for (const std::string& variable : image.environment) {
    const auto same = std::ranges::find_if(
        out, [&](const std::string& other) { return variable_name(other) == variable_name(variable); });
    if (same == out.end()) {
      out.push_back(variable);
    } else if (variable_name(variable) == "PATH") {
      *same = variable;
    }
  }
  return out;
}

Status check_image(const LaunchSpec& spec, const Engine& engine) {
  const ImageFacts& image = engine.facts.image;
  if (spec.image.reference.empty()) {
    return fail(Errc::policy_invalid, text::cat("backend ", engine.name, " starts an image, and there is none"),
                "launch.command", "write [docker, run, -i, --rm, NAME@sha256:..., ARGUMENT, ...]");
  }
  if (spec.image.reference == kEmptyImage) {
    return engine.is_podman ? Status()
                            : fail(Errc::policy_invalid, text::cat(engine.name, " can be tried with an image only"), {},
                                   "run mcp-cordon probe NAME for a policy that names one");
  }
  if (!image_digest(spec.image.reference)) {
    return fail(Errc::policy_invalid, "the image is not named by a digest", text::printable(spec.image.reference));
  }
  if (!image.found) {
    return fail(Errc::launch_failed, text::cat(engine.name, " does not have this image"),
                text::printable(spec.image.reference),
                text::cat("nothing is pulled at start; run: ",
                          spec.image.fetch.empty() ? text::cat(engine.name, " pull ", spec.image.reference)
                                                   : spec.image.fetch));
  }
  if (!spec.image.platform.empty() && spec.image.platform != image.platform) {
    return fail(Errc::policy_invalid,
                text::cat("the image is for ", text::printable(image.platform), ", --platform says ",
                          text::printable(spec.image.platform)),
                "launch.command");
  }
  return {};
}

Status check_wishes(const LaunchSpec& spec, const HostFacts& facts, const Engine& engine) {
  const auto refusal = [&](std::string requirement, std::string reason, std::string hint) {
    return std::unexpected(to_error({.backend = std::string(engine.name),
                                     .requirement = std::move(requirement),
                                     .reason = std::move(reason),
                                     .hint = std::move(hint)}));
  };
  if (spec.proc_minimal) {
    return refusal("filesystem.proc", "backend_version", "containers have no minimal /proc; use proc: masked");
  }
  if (allows_nested_userns(spec)) {
    return refusal({}, "not_offered", "containers have no user namespaces of their own here; use native");
  }
  // Its namespaces are root's, and nobody else enters them to open doors.
  if (!engine.is_podman && !facts.root() && !spec.network.empty()) {
    return std::unexpected(
        to_error({.backend = std::string(engine.name),
                  .requirement = "network.hosts",
                  .because = "isolation.network",
                  .reason = "not_offered",
                  .hint = "use podman, native or bubblewrap, start it as root, or write network: none"}));
  }
  // Its mounts are made in another process, where owners cannot be mapped.
  if (!engine.is_podman && facts.root() && !spec.home_source.empty()) {
    return refusal({}, "running_as_root", "set launch.home: temporary, or start it as an ordinary user");
  }
  return {};
}

}  // namespace

std::vector<ToolArgument> container_arguments(const Plan& plan, const LaunchSpec& spec, const Engine& engine) {
  Arguments out;
  if (!engine.facts.runtime.empty()) {
    out.add({"--runtime", engine.facts.runtime});
  }
  out.add({"run", "--rm", "--pull", "never"});
  out.at_launch("--name", "{name}");
  out.add({"--label", "dev.mcp-cordon=launch", "--network", "none", "--read-only", "--cap-drop", "ALL",
           "--security-opt", "no-new-privileges"});
  if (plan.syscall_filter) {
    out.at_launch("--security-opt", "seccomp={folder}/seccomp.json");
  } else {
    out.add({"--security-opt", "seccomp=unconfined"});
  }
  out.add({"--user", text::cat(plan.uid, ":", plan.gid), "--ipc", "private", "--cgroupns", "private", "--log-driver",
           "none", "--no-healthcheck", "--hostname", plan.hostname, "--workdir", "/", "--shm-size",
           std::to_string(shared_memory(plan))});
  if (engine.is_podman) {
    add_podman(out, plan, engine);
  }
  add_limits(out, plan, engine);
  for (std::size_t i = 0; i < plan.view.size(); ++i) {
    if (!is_engines_own(plan.view[i])) {
      out.mount(i);
    }
  }
  out.at_launch("--mount", text::cat("type=bind,source={stage},target=", kContainerStage, ",readonly"));
  out.at_launch("--mount", text::cat("type=bind,source={folder}/socket,target=", kContainerSocket, ",readonly"));
  if (plan.network.hosts()) {
    out.at_launch("--mount", "type=bind,source={folder}/resolv.conf,target=/etc/resolv.conf,readonly");
    out.at_launch("--mount", "type=bind,source={folder}/hosts,target=/etc/hosts,readonly");
  }
  if (spec.image.reference == kEmptyImage) {
    out.at_launch("--rootfs", "{folder}/root");
    out.add({kContainerStage, kContainedWord});
  } else {
    out.add({"--entrypoint", kContainerStage, spec.image.reference, kContainedWord});
  }
  return out.take();
}

Statements container_statements(const LaunchSpec& spec, const HostFacts& facts, const Engine& engine,
                                std::span<const ViewEntry> view) {
  const bool landlock = facts.landlock_abi > 0;
  const std::string second = landlock ? text::cat(", Landlock ABI ", facts.landlock_abi) : std::string();
  Statements out;
  if (landlock || engine.is_podman) {
    out.enforced("filesystem.read", text::cat("the image and what is granted, by ", engine.name, second));
  } else {
    out.lacks("filesystem.read", Strength::partial, "landlock_abi0", "docker shows /sys of the machine; use podman");
  }
  out.enforced("filesystem.write", text::cat("read-only root of the container", second));
  if (!spec.deny.empty()) {
    out.enforced("filesystem.deny", "covered");
  }
  if (engine.is_podman) {
    out.enforced("filesystem.proc", "own /proc, masked");
  } else {
    // Its command line cannot name what to hide besides, and runtimes refuse mounts in /proc.
    out.lacks("filesystem.proc", Strength::partial, "proc_unmasked",
              "docker cannot hide kallsyms, modules and their like in /proc; use podman, or take filesystem out of "
              "isolation.require");
  }
  out.enforced("network.outside", "network namespace with lo only");
  say_network(out, spec);
  out.enforced("processes.own", "pid namespace");
  out.enforced("processes.end", "own init; the container is removed by name");
  out.enforced("ipc.own", text::cat("ipc namespace", facts.landlock_abi >= 6 ? ", Landlock scopes" : ""));
  out.say(steering_guarantee(facts, view)).say(unix_socket_guarantee(spec, facts, view));
  out.enforced("syscalls.privileges", "no_new_privs, capabilities zero");
  say_filter(out, spec, facts);
  out.enforced("environment.listed", "listed variables and those of the image");
  out.enforced("descriptors.standard", "the three standard streams only");
  if (landlock) {
    out.enforced("devices.listed", "null, zero, full, random, urandom; Landlock refuses the container's others");
  } else {
    out.lacks("devices.listed", Strength::partial, "landlock_abi0");
  }
  say_limits(out, spec, {});  // the engine makes groups of its own
  if (engine.facts.limits) {
    out.enforced("limits.processes", "control group of the container");
    if (spec.limits.memory_bytes || spec.default_limits.memory_bytes) {
      out.enforced("limits.memory", "control group of the container");
    }
  } else {
    out.lacks("limits.processes", Strength::partial, "no_cgroup_delegation");
  }
  return out;
}

void set_environment(Plan& plan, const LaunchSpec& spec) {
  if (!plan.in_container()) {
    plan.environment = spec.environment;
    return;
  }
  for (const std::string& variable : spec.environment) {
    const auto same = std::ranges::find_if(
        plan.environment, [&](const std::string& other) { return variable_name(other) == variable_name(variable); });
    if (same != plan.environment.end() && variable_name(variable) != "PATH") {
      *same = variable;
    }
  }
}

Result<Plan> container_plan(const LaunchSpec& spec, const HostFacts& facts, const Engine& engine) {
  if (!engine.facts.trial.works) {
    return std::unexpected(refused(engine.name, {}, engine.facts.trial));
  }
  for (const Status& status : {check_image(spec, engine), check_wishes(spec, facts, engine)}) {
    if (!status) {
      return std::unexpected(status.error());
    }
  }
  LaunchSpec inside = spec;
  inside.argv = command_of(spec, engine.facts.image);
  inside.environment = environment_of(spec, engine.facts.image);
  if (inside.argv.empty()) {
    return fail(Errc::launch_failed, "the image names no program to start", text::printable(spec.image.reference),
                "write the program after the image");
  }
  inside.executable = inside.argv.front();
  if (inside.cwd.empty()) {
    inside.cwd = engine.facts.image.working_directory;
  }
  auto plan = common_plan(inside, facts, engine.name);
  if (!plan) {
    return plan;
  }
  auto view = build_view(inside, facts);
  if (!view) {
    return std::unexpected(view.error());
  }
  leave_links(*view);
  plan->view = std::move(*view);
  if (Status paths = check_paths(*plan); !paths) {
    return std::unexpected(paths.error());
  }
  plan->switch_user = false;  // the engine starts our stage as that user
  plan->own_namespaces = true;
  plan->landlock_abi = facts.landlock_abi;
  choose_filter(*plan, inside, facts);
  plan->guarantees = container_statements(inside, facts, engine, plan->view).complete(inside);
  plan->steps.outer = {Step::session, Step::descriptors};
  const std::vector<Step> places = place_steps(*plan);
  plan->steps.outer.insert(plan->steps.outer.end(), places.begin(), places.end());
  plan->steps.outer.push_back(Step::sources);
  plan->steps.init = {Step::identify_sources};
  plan->steps.server = server_steps(*plan);
  plan->container = {.image = spec.image.reference,
                     .client_home = engine.facts.client_home,
                     .scratch = spec.scratch,
                     .map_owners = engine.is_podman && facts.root()};
  plan->tool = engine.facts.path;
  plan->tool_arguments = container_arguments(*plan, spec, engine);
  if (engine.facts.limits) {
    // The engine's control group keeps these, for the whole container instead of each process.
    plan->limits.memory_bytes.reset();
    plan->limits.processes.reset();
  }
  return plan;
}

}  // namespace cordon::sandbox
