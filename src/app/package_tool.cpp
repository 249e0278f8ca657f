// SPDX-License-Identifier: Apache-2.0
#include "app/package_tool.hpp"

#include <charconv>
#include <deque>
#include <utility>

#include "app/launch_plan.hpp"
#include "app/paths.hpp"
#include "app/planned_launch.hpp"
#include "base/text.hpp"
#include "run/apart.hpp"
#include "run/task.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"
#include "sandbox/view.hpp"

namespace cordon::app {
namespace {

constexpr std::int64_t kTimeoutMs = 30 * 60'000;
constexpr std::size_t kKeptLines = 1000;
constexpr std::size_t kMaxWord = 4'000'000;

sandbox::LaunchSpec spec_of(const PackageTool& tool) {
  sandbox::LaunchSpec spec;
  spec.argv = tool.argv;
  spec.executable = tool.executable;
  spec.home_source = tool.home;
  spec.cwd = tool.cwd;
  spec.network = tool.network;
  spec.runtime = {tool.runtime};
  spec.require = policy::Isolation{}.require;
  spec.default_limits = sandbox::preset_limits(spec);
  const std::string own = parent_of(tool.executable);
  spec.environment = {text::cat("PATH=", own, ":/usr/local/bin:/usr/bin:/bin"), text::cat("HOME=", kInsideHome),
                      text::cat("TMPDIR=", tool.temporary)};
  spec.environment.insert(spec.environment.end(), tool.environment.begin(), tool.environment.end());
  return spec;
}

// In the process apart: what it printed last, after the status.
Result<std::string> carry_out(const Caller& caller, const PackageTool& tool, const sandbox::Plan& plan) {
  Result<run::ServerProcess> process = start_plan(caller, plan);
  if (!process) {
    return std::unexpected(process.error());
  }
  std::deque<std::string> lines;
  const auto keep = [&lines](std::string_view line) {
    lines.push_back(text::printable(line, 2000));
    if (lines.size() > kKeptLines) {
      lines.pop_front();
    }
  };
  run::TaskConfig config;
  const pid_t child = process->pid;
  config.egress = egress_config(plan, tool.whom, *process);
  config.process = std::move(*process);
  config.line = [&](std::string_view line) {
    keep(line);
    if (tool.heard) {
      tool.heard(line);
    }
  };
  config.notice = keep;
  config.before_first_byte = [&plan, child] { return confine_for_session(plan, child); };
  config.timeout_ms = kTimeoutMs;
  const Result<gate::ExitReport> ended = run::run_task(std::move(config));
  if (!ended) {
    return std::unexpected(ended.error());
  }
  std::string out = text::cat(ended->signalled ? 128 + ended->code : ended->code, '\n');
  for (const std::string& line : lines) {
    out += text::cat(line, '\n');
  }
  return out;
}

}  // namespace

Result<ToolEnd> run_package_tool(const Caller& caller, const PackageTool& tool) {
  const sandbox::LaunchSpec spec = spec_of(tool);
  const Result<sandbox::HostFacts> host = sandbox::probe_host(spec, caller.home);
  if (!host) {
    return std::unexpected(host.error());
  }
  Result<sandbox::Plan> plan = sandbox::select(spec, *host);
  if (!plan) {
    return std::unexpected(plan.error());
  }
  const Result<std::string> word = run::apart([&] { return carry_out(caller, tool, *plan); }, kMaxWord);
  if (!word) {
    return std::unexpected(word.error());
  }
  ToolEnd out;
  const std::vector<std::string_view> lines = text::split(*word, '\n');
  std::from_chars(lines.front().data(), lines.front().data() + lines.front().size(), out.status);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].empty()) {
      out.lines.emplace_back(lines[i]);
    }
  }
  return out;
}

}  // namespace cordon::app
