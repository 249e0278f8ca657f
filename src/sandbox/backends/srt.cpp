// SPDX-License-Identifier: Apache-2.0
// srt (@anthropic-ai/sandbox-runtime): it makes the namespaces, by a settings file of ours in which nothing is readable
// that is not listed; our stage inside takes away the environment and the descriptors that it passes on, and refuses
// what it leaves in view.
#include <algorithm>

#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/srt.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "srt";
constexpr std::uint32_t kNamespaces = 0b0001111;  // user, mount, pid, network

// It takes these for patterns.
bool is_plain(std::string_view path) { return path.find_first_of("*?[]{}") == std::string_view::npos; }

Result<std::string> settings_of(const SrtFacts& srt, const std::vector<ViewEntry>& view) {
  std::vector<std::string> readable;
  std::vector<std::string> writable;
  for (const ViewEntry& entry : view) {
    // Devices and /proc it makes itself.
    if (entry.kind != EntryKind::bind || entry.optional) {
      continue;
    }
    if (!is_plain(entry.target)) {
      return std::unexpected(
          to_error({.backend = std::string(kName),
                    .requirement = "filesystem.read",
                    .because = text::printable(entry.target),
                    .reason = "not_offered",
                    .hint = "srt takes characters of this path for a pattern: rename it, or use native"}));
    }
    readable.push_back(entry.target);
    if (entry.writable) {
      writable.push_back(entry.target);
    }
  }
  return srt_settings(srt, readable, writable);
}

Statements statements(const LaunchSpec& spec, const HostFacts& facts, const Plan& plan) {
  Statements out = shared_statements(spec, facts, plan);
  const std::string view = text::cat("view made by srt ", facts.srt.version, "; Landlock ABI ", plan.landlock_abi);
  out.enforced("filesystem.read", view);
  out.enforced("filesystem.proc", "pid namespace; Landlock");
  out.enforced("processes.own", "pid namespace");
  out.enforced("processes.end", "pid namespace, two guards that adopt orphans");
  if (plan.syscall_filter) {
    out.enforced("network.outside", "network namespace; seccomp: no sockets but connected pairs");
  } else {
    out.enforced("network.outside", "network namespace");
  }
  return out;
}

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  const SrtFacts& srt = facts.srt;
  if (!srt.trial.works) {
    return std::unexpected(refused(kName, {}, srt.trial));
  }
  auto plan = shared_plan(spec, facts, kName);
  if (!plan) {
    return plan;
  }
  auto settings = settings_of(srt, plan->view);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  plan->guarantees = statements(spec, facts, *plan).complete(spec);
  plan->tool = srt.node;
  // Its sockets: a path below the state folder is longer than the name of a socket may be.
  plan->tool_environment = {"PATH=/usr/bin:/bin", text::cat("HOME=", spec.home_source.empty() ? "/" : spec.home_source),
                            "TMPDIR=/tmp"};
  plan->tool_namespaces = kNamespaces;
  plan->tool_arguments = {{.text = srt.cli},
                          {.text = "--settings"},
                          {.kind = ToolArgumentKind::memory, .text = std::move(*settings)},
                          {.text = "-c"},
                          {.text = "exec /proc/self/fd/109 inside high"}};
  plan->steps = tool_steps(*plan);
  return plan;
}

}  // namespace

extern constinit const Backend kBackend_srt;
constinit const Backend kBackend_srt = {
    .name = kName, .choice = BackendChoice::srt, .automatic = false, .plan = make_plan};

}  // namespace cordon::sandbox
