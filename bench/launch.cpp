// SPDX-License-Identifier: Apache-2.0
// The bare launch: from a spec in hand to the first byte of the started program, by the native backend, and by bwrap
// with the same view. bwrap does less then: no seccomp filter, no Landlock, no limits, no look from inside.
#include "sandbox/launch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/text.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

sandbox::LaunchSpec spec_for(const Setup& setup) {
  sandbox::LaunchSpec spec;
  spec.argv = {setup.echo(), "--hello"};
  spec.environment = setup.environment();
  spec.mounts = {{setup.echo(), setup.echo(), false}};
  spec.backend = sandbox::BackendChoice::native;
  spec.require = {"filesystem", "network", "processes", "ipc", "syscalls", "environment", "descriptors", "devices"};
  return spec;
}

void wait_for_byte(int fd) {
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) {
    die("the launched program said nothing");
  }
}

sandbox::Plan plan_for(const sandbox::LaunchSpec& spec, const std::string& home) {
  const Result<sandbox::HostFacts> facts = sandbox::probe_host(spec, home);
  Result<sandbox::Plan> plan = facts ? sandbox::select(spec, *facts) : std::unexpected(facts.error());
  if (!plan) {
    die(plan.error().to_string());
  }
  return *std::move(plan);
}

double native_ms(const sandbox::Plan& plan, const std::string& stage) {
  const std::int64_t begin = now_ns();
  Result<sandbox::Launched> launched = sandbox::launch(plan, {.stage_path = stage});
  if (!launched) {
    die(launched.error().to_string());
  }
  wait_for_byte(launched->server_out.get());
  const double elapsed = static_cast<double>(now_ns() - begin) / 1e6;
  launched->lifeline.reset();
  waitpid(launched->pid, nullptr, 0);
  return elapsed;
}

// The view of the plan in bwrap's words.
void append_entry(std::vector<std::string>& out, const sandbox::ViewEntry& entry) {
  using Kind = sandbox::EntryKind;
  switch (entry.kind) {
    case Kind::directory:
      out.insert(out.end(), {"--dir", entry.target});
      break;
    case Kind::tmpfs:
      out.insert(out.end(), {"--tmpfs", entry.target});
      break;
    case Kind::bind:
      out.insert(out.end(), {entry.writable ? "--bind" : "--ro-bind", entry.source, entry.target});
      break;
    case Kind::device:
      out.insert(out.end(), {"--dev-bind", entry.source, entry.target});
      break;
    case Kind::symlink:
      out.insert(out.end(), {"--symlink", entry.text, entry.target});
      break;
    case Kind::proc:
      out.insert(out.end(), {"--proc", entry.target});
      break;
    case Kind::file:
    case Kind::link:
    case Kind::freeze:
    case Kind::cover:
      break;
  }
}

Command bwrap_command(const sandbox::Plan& plan, const std::string& bwrap) {
  Command command{{bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"},
                  plan.environment};
  for (const sandbox::ViewEntry& entry : plan.view) {
    append_entry(command.argv, entry);
  }
  command.argv.insert(command.argv.end(), {"--chdir", "/", "--", plan.executable});
  command.argv.insert(command.argv.end(), plan.argv.begin() + 1, plan.argv.end());
  return command;
}

double command_ms(const Command& command, const std::string& log) {
  const std::int64_t begin = now_ns();
  Peer peer(command, log);
  peer.wait_for_line();
  return static_cast<double>(now_ns() - begin) / 1e6;
}

// Another sandbox launcher, for those who know it; it is a program of Node that starts bwrap.
void add_srt(const Setup& setup, Report& report) {
  if (setup.options().srt.empty()) {
    report.skipped("srt", "not given (--srt FILE)");
    return;
  }
  const std::string settings = setup.folder() + "/srt.json";
  std::ofstream(settings) << R"({"network":{"allowedDomains":[],"deniedDomains":[]},)"
                          << R"("filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}})";
  const Command command{{setup.options().srt, "--settings", settings, setup.echo(), "--hello"}, setup.environment()};
  if (run(command, setup.folder() + "/srt", setup.log()) != 0) {
    report.skipped("srt", "does not start here; it needs bwrap, socat and rg");
    return;
  }
  std::vector<double> values;
  for (int round = 0; round < setup.options().rounds; ++round) {
    values.push_back(command_ms(command, setup.log()));
  }
  report.row("srt", text::cat(fixed(lowest(values), 2), " ms"));
}

}  // namespace

void measure_launch(Setup& setup, Report& report) {
  report.section(
      text::cat("Launch: from a spec in hand to the first byte of the program, best of ", setup.options().rounds));
  const sandbox::LaunchSpec spec = spec_for(setup);
  if (setup.options().cordon.empty()) {
    report.skipped("native", "no mcp-cordon was given");
    return;
  }
  const std::string home = setup.folder() + "/home";
  const std::string stage =
      std::filesystem::path(setup.options().cordon).parent_path().parent_path() / "libexec/mcp-cordon/stage";
  const sandbox::Plan plan = plan_for(spec, home);
  const Command direct{{setup.echo(), "--hello"}, setup.environment()};
  const std::string bwrap = "/usr/bin/bwrap";
  const bool have_bwrap = access(bwrap.c_str(), X_OK) == 0;
  std::vector<double> bare;
  std::vector<double> planning;
  std::vector<double> launching;
  std::vector<double> native;
  std::vector<double> other;
  for (int round = 0; round < setup.options().rounds; ++round) {
    bare.push_back(command_ms(direct, setup.log()));
    const std::int64_t begin = now_ns();
    plan_for(spec, home);
    planning.push_back(static_cast<double>(now_ns() - begin) / 1e6);
    launching.push_back(native_ms(plan, stage));
    native.push_back(planning.back() + launching.back());
    if (have_bwrap) {
      other.push_back(command_ms(bwrap_command(plan, bwrap), setup.log()));
    }
  }
  report.row("direct", text::cat(fixed(lowest(bare), 2), " ms"));
  report.row("mcp-cordon, native", text::cat(fixed(lowest(native), 2), " ms"),
             text::cat("of it finding out what the machine can do and planning ", fixed(lowest(planning), 2), " ms"));
  if (have_bwrap) {
    report.row("bwrap, same view", text::cat(fixed(lowest(other), 2), " ms"));
    report.row("  native against bwrap, plan in hand", text::cat(fixed(lowest(launching) / lowest(other), 2), " x"));
    report.goal("  native against bwrap", lowest(native) / lowest(other), "x", Better::lower, 1);
  } else {
    report.skipped("bwrap", "not installed");
  }
  add_srt(setup, report);
}

}  // namespace cordon::bench
