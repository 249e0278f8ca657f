// SPDX-License-Identifier: Apache-2.0
// The course of a launch, seen from the helper. Why the steps are in this order: docs/isolation.md.
//
//   native:     launcher ── stage (outer steps) ── init, pid 1 (init steps) ── server (server steps, exec)
//   landlock:   launcher ── stage (outer steps) ── keeper ── server (server steps, exec)
//   bubblewrap: launcher ── stage (outer steps) ── keeper ── bwrap ── init, this program again ── server
//   podman:     launcher ── stage (outer steps) ── keeper ── client     init, this program again ── server
//   docker:     the same; the container's parent is the engine
//   firejail, srt: the same, but init is not pid 1 inside: that is the tool's
//
// Every step is fatal. Nothing here reads argv, the environment or a path of its own: the plan says everything.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "sandbox/container_plan.hpp"
#include "sandbox/stage/connects.hpp"
#include "sandbox/stage/container.hpp"
#include "sandbox/stage/groups.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/stage.hpp"
#include "sandbox/stage/tracer.hpp"

namespace cordon::sandbox::stage {
namespace {

void read_plan(Stage& stage) {
  const UniqueFd file(kPlanFd);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0 || status.st_size <= 0) {
    report_and_exit(stage, "plan", {.detail = "started without a plan; this program is run by mcp-cordon only"});
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    report_and_exit(stage, "plan", {.detail = errno_text("read", errno)});
  }
  auto decoded = decode(bytes);
  if (!decoded) {
    report_and_exit(stage, "plan", {.detail = decoded.error().to_string()});
  }
  stage.plan = std::move(decoded->plan);
  if (stage.inside) {
    stage.witness = std::move(decoded->witness);
  }
}

void enter_groups_or_exit(Stage& stage) {
  if (const Outcome outcome = enter_groups(stage); !outcome) {
    report_and_exit(stage, name(Step::groups), outcome.error());
  }
}

// Nothing of what is at the low numbers is ours: a tool may have used them for itself.
void take_high_descriptors() {
  for (int fd = kStatusFd; fd <= kBinaryFd; ++fd) {  // no tool is traced
    if (::dup2(kHighBase + fd, fd) != fd) {
      ::_exit(kFailureStatus);  // without a status pipe there is nobody to tell
    }
  }
}

[[noreturn]] void run_server(Stage& stage) {
  stage.leash_in.reset();
  stage.asking_in.reset();
  run_steps(stage, stage.plan.steps.server);
  become_server(stage);
}

// A tool's own processes keep what they were given open, so that the end of a pipe tells nothing outside. It does here,
// with a pipe that only the server has; what comes of it is handed on in a byte.
[[noreturn]] void run_init_in_tool(Stage& stage) {
  std::array<int, 2> inner = {-1, -1};
  if (::pipe2(inner.data(), O_CLOEXEC) != 0) {
    report_and_exit(stage, "init", {.detail = errno_text("pipe2", errno)});
  }
  UniqueFd inner_in(inner[0]);
  UniqueFd inner_out(inner[1]);
  const pid_t server = fork_or_exit(stage, "init");
  if (server == 0) {
    inner_in.reset();
    stage.status = std::move(inner_out);
    stage.ready_out.reset();
    run_server(stage);
  }
  inner_out.reset();
  std::string report;
  std::array<char, 4096> buffer = {};
  for (;;) {
    const ssize_t length = ::read(inner_in.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) {
      continue;
    }
    if (length <= 0) {
      break;
    }
    report.append(buffer.data(), static_cast<std::size_t>(length));
  }
  const char started = report.empty() ? 'x' : 'f';
  if ((!report.empty() &&
       ::write(stage.status.get(), report.data(), report.size()) != static_cast<ssize_t>(report.size())) ||
      ::write(stage.ready_out.get(), &started, 1) != 1) {
    ::_exit(kFailureStatus);  // the guard is gone
  }
  serve_as_init(stage, server, nullptr);
}

Outcome set_dumpable(bool yes) {
  if (::prctl(PR_SET_DUMPABLE, yes ? 1 : 0) != 0) {
    return failed("prctl DUMPABLE");
  }
  return {};
}

// The server takes its first step when init follows it.
[[noreturn]] void run_traced(Stage& stage) {
  const auto must = [&](const Outcome& outcome) {
    if (!outcome) {
      report_and_exit(stage, "trace", outcome.error());
    }
  };
  TraceGate gate;
  must(gate.open());
  // A process that is not dumpable cannot be followed. Once it is, nobody else can follow it, too, and it is closed
  // again until it is the server.
  must(set_dumpable(true));
  const pid_t server = fork_or_exit(stage, "init");
  if (server == 0) {
    stage.trace.reset();
    if (!gate.wait()) {
      ::_exit(kFailureStatus);  // init has said why
    }
    must(set_dumpable(false));
    run_server(stage);
  }
  must(set_dumpable(false));
  Tracer tracer(std::move(stage.trace));
  must(tracer.follow(server));
  must(gate.release());
  serve_as_init(stage, server, &tracer);
}

[[noreturn]] void run_init(Stage& stage) {
  stage.leash_out.reset();
  stage.ready_in.reset();
  stage.swept_in.reset();
  if (const Outcome outcome = die_with_parent(); !outcome) {
    report_and_exit(stage, "init", outcome.error());
  }
  if (!stage.inside) {
    enter_groups_or_exit(stage);  // with a tool, it has
  }
  run_steps(stage, stage.plan.steps.init);
  if (const Outcome outcome = open_asking(stage); !outcome) {
    report_and_exit(stage, "init", outcome.error());
  }
  if (stage.plan.shared_host) {
    run_init_in_tool(stage);
  }
  if (stage.plan.trace) {
    run_traced(stage);
  }
  const pid_t server = fork_or_exit(stage, "init");
  if (server == 0) {
    run_server(stage);
  }
  serve_as_init(stage, server, nullptr);
}

// Inside a tool's sandbox: what it does not need is closed, the rest is as if we had forked.
[[noreturn]] void run_inside(Stage& stage) {
  stage.leash_in = UniqueFd(kLeashFd);
  stage.ready_out = UniqueFd(kReadyFd);
  if (::dup2(kErrorFd, STDERR_FILENO) != STDERR_FILENO || kernel::close_range(kErrorFd, ~0U, 0) != 0) {
    report_and_exit(stage, "descriptors", {.detail = errno_text("descriptors inside", errno)});
  }
  for (const int fd : {kStatusFd, kLifelineFd, kLeashFd, kReadyFd}) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
      report_and_exit(stage, "descriptors", {.detail = errno_text("FD_CLOEXEC", errno)});
    }
  }
  if (stage.plan.own_namespaces && ::getpid() != 1) {
    report_and_exit(stage, "init", {.detail = "not pid 1 inside"});
  }
  run_init(stage);
}

[[noreturn]] void guard_tool(Stage& stage) {
  if (const Outcome outcome = open_guard_pipes(stage); !outcome) {
    report_and_exit(stage, "guard", outcome.error());
  }
  auto tool = stage.plan.in_container() ? start_container(stage) : start_tool(stage);
  if (!tool) {
    report_and_exit(stage, stage.plan.backend, tool.error());
  }
  guard_from_outside(stage, std::move(*tool));
}

[[noreturn]] void guard_server(Stage& stage) {
  const pid_t server = fork_or_exit(stage, "server");
  if (server == 0) {
    enter_groups_or_exit(stage);
    run_server(stage);
  }
  guard_child(stage, server, {});
}

// With a tool, or without a namespace that ends with its init, there is one more process between; guard.cpp says why.
[[noreturn]] void run_under_keeper(Stage& stage) {
  std::array<int, 2> hold = {-1, -1};
  if (::pipe2(hold.data(), O_CLOEXEC) != 0) {
    report_and_exit(stage, "guard", {.detail = errno_text("pipe2", errno)});
  }
  UniqueFd hold_in(hold[0]);
  UniqueFd hold_out(hold[1]);
  const pid_t keeper = fork_or_exit(stage, "guard");
  if (keeper > 0) {
    guard_child(stage, keeper, std::move(hold_out));
  }
  hold_out.reset();
  stage.group_hold.reset();  // the guard's alone: it is the last
  stage.group_done.reset();
  stage.swept_in.reset();
  stage.lifeline = std::move(hold_in);
  if (stage.plan.tool.empty()) {
    guard_server(stage);
  }
  guard_tool(stage);
}

[[noreturn]] void run_outside(Stage& stage) {
  run_steps(stage, stage.plan.steps.outer);
  if (!stage.plan.tool.empty() || stage.plan.shared_host) {
    run_under_keeper(stage);
  }
  if (!stage.plan.own_namespaces) {
    guard_server(stage);
  }
  if (const Outcome outcome = open_guard_pipes(stage); !outcome) {
    report_and_exit(stage, "guard", outcome.error());
  }
  const pid_t init = fork_or_exit(stage, "init");
  if (init == 0) {
    run_init(stage);
  }
  guard_from_outside(stage, {.pid = init});
}

}  // namespace
}  // namespace cordon::sandbox::stage

int main(int argc, char** argv) {
  using namespace cordon::sandbox::stage;
  block_guarded_signals();
  Stage stage;
  stage.witness.umask = ::umask(0);
  const bool contained = argc == 2 && argv[1] == cordon::sandbox::kContainedWord;
  if (contained) {
    receive_descriptors();
  }
  stage.inside = contained || (argc >= 2 && std::strcmp(argv[1], kInsideWord) == 0);
  if (stage.inside && argc == 3 && std::strcmp(argv[2], kHighWord) == 0) {
    take_high_descriptors();
  }
  stage.status = cordon::UniqueFd(kStatusFd);
  stage.lifeline = cordon::UniqueFd(kLifelineFd);
  if (argc == 2 && std::strcmp(argv[1], kSpareWord) == 0) {
    wait_until_needed(stage);
  }
  stage.held = argc == 2 && std::strcmp(argv[1], kHeldWord) == 0;
  read_plan(stage);
  if (stage.inside) {
    run_inside(stage);
  }
  run_outside(stage);
}
