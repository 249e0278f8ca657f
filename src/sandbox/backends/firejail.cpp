// SPDX-License-Identifier: Apache-2.0
// firejail: a set-id program makes the namespaces, with explicit options and no profile; our stage inside refuses what
// firejail leaves in view. For machines where nothing else works; docs/isolation.md recommends against it.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/firejail.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "firejail";
constexpr std::uint32_t kNamespaces = 0b0011110;  // mount, pid, network, ipc

// Read-only there and in view without being asked for.
constexpr std::array<std::string_view, 10> kAlwaysShown = {"/usr",   "/etc",   "/bin",    "/sbin", "/lib",
                                                           "/lib32", "/lib64", "/libx32", "/dev",  "/proc"};

bool is_always_shown(std::string_view path) {
  return std::ranges::any_of(kAlwaysShown, [path](std::string_view top) { return is_within(path, top); });
}

// Characters that firejail takes for something else than themselves, or refuses.
bool is_plain(std::string_view path) {
  return std::ranges::all_of(path, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f' &&
           std::string_view("\\&!?\"'<>%^(){}[];,*~$`|#:").find(c) == std::string_view::npos;
  });
}

Result<std::vector<ToolArgument>> arguments_of(const std::vector<ViewEntry>& view) {
  std::vector<ToolArgument> list;
  for (const std::string_view option : kFirejailOptions) {
    list.push_back({.text = std::string(option)});
  }
  for (const ViewEntry& entry : view) {
    const bool always = is_always_shown(entry.target);
    if (entry.kind != EntryKind::bind || (always && !entry.writable)) {
      continue;
    }
    if (always || !is_plain(entry.target)) {
      return std::unexpected(to_error(
          {.backend = std::string(kName),
           .requirement = always ? "filesystem.write" : "filesystem.read",
           .because = text::printable(entry.target),
           .reason = "not_offered",
           .hint = always ? "firejail keeps this place read-only: grant another one, or use native"
                          : "firejail takes characters of this path for something else: rename it, or use native"}));
    }
    list.push_back({.text = text::cat("--whitelist=", entry.target)});
    if (!entry.writable) {
      list.push_back({.text = text::cat("--read-only=", entry.target)});
    }
  }
  for (const std::string_view word : {"--", "/proc/self/fd/109", "inside", "high"}) {
    list.push_back({.text = std::string(word)});
  }
  return list;
}

Statements statements(const LaunchSpec& spec, const HostFacts& facts, const Plan& plan) {
  Statements out = shared_statements(spec, facts, plan);
  out.lacks("filesystem.read", Strength::partial, "names_visible",
            "contents cannot be read, names and sizes beside the grants can be seen in places that hold none: use "
            "native, or take filesystem out of isolation.require");
  out.enforced("filesystem.proc", "pid namespace; Landlock");
  out.enforced("processes.own", "pid namespace");
  out.enforced("processes.end", "pid namespace, two guards that adopt orphans");
  if (plan.syscall_filter) {
    out.enforced("network.outside", "network namespace; seccomp: no sockets but connected pairs");
    out.enforced("ipc.own", "ipc namespace; seccomp: no sockets, no System V or POSIX ipc");
  } else {
    out.enforced("network.outside", "network namespace");
  }
  return out;
}

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  if (!facts.firejail.trial.works) {
    return std::unexpected(refused(kName, {}, facts.firejail.trial));
  }
  auto plan = shared_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  plan->guarantees = statements(spec, facts, *plan).complete(spec);
  plan->tool = facts.firejail.path;
  plan->tool_environment = {"PATH=/usr/bin:/bin"};
  plan->tool_namespaces = kNamespaces;
  auto arguments = arguments_of(plan->view);
  if (!arguments) {
    return std::unexpected(arguments.error());
  }
  plan->tool_arguments = std::move(*arguments);
  plan->steps = tool_steps(*plan);
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_firejail;
constinit const Backend kBackend_firejail = {
    .name = kName, .choice = BackendChoice::firejail, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
