// SPDX-License-Identifier: Apache-2.0
// The tracer at work: it tells what a server touches and was refused, and changes nothing of it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>

#include "base/text.hpp"
#include "planted.hpp"
#include "sandbox/trace.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using sandbox::TraceAccess;
using Clock = std::chrono::steady_clock;

namespace {

struct Traced {
  test::Outcome outcome = {};
  std::vector<sandbox::TraceFinding> findings = {};
  sandbox::TraceEnd end = {};
  bool ended = false;
  std::string bad = {};

  int count(TraceAccess access, const std::string& path, int error_number) const {
    return static_cast<int>(std::ranges::count(findings, sandbox::TraceFinding{access, error_number, path}));
  }
  bool has(TraceAccess access, const std::string& path, int error_number = 0) const {
    return count(access, path, error_number) == 1;
  }
  bool names(std::string_view path) const {
    return std::ranges::any_of(findings, [&](const auto& finding) { return finding.path == path; });
  }
};

struct TracePipe {
  UniqueFd in = {};
  UniqueFd out = {};
};

TracePipe trace_pipe() {
  std::array<int, 2> ends = {-1, -1};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void take(Traced& traced, const std::string& lines) {
  for (const std::string_view line : text::split(lines, '\n')) {
    const auto read = sandbox::read_trace_line(line);
    if (read && read->finding) {
      traced.findings.push_back(*read->finding);
    } else if (read) {
      traced.end = *read->end;
      traced.ended = true;
    } else if (!line.empty()) {
      traced.bad = line;
    }
  }
}

Traced run_traced(sandbox::Plan plan) {
  plan.trace = true;
  TracePipe pipe = trace_pipe();
  Traced traced;
  sandbox::Launched launched = test::start(plan, pipe.out.get());
  pipe.out.reset();
  std::string lines;
  std::thread reader([&] { lines = test::read_to_end(pipe.in.get()); });
  traced.outcome = test::finish(std::move(launched));
  reader.join();
  take(traced, lines);
  return traced;
}

struct Grants {
  test::TempFolder folder = {};
  Grants() {
    for (const char* name : {"read", "write", "beside"}) {
      REQUIRE(::mkdir((folder / name).c_str(), 0777) == 0);
      ::chmod((folder / name).c_str(), 0777);
      test::write_file(folder / (std::string(name) + "/file"), "x", 0666);
      for (int i = 0; i < 10; ++i) {
        test::write_file(folder / (std::string(name) + "/t" + std::to_string(i)), "x", 0666);
      }
    }
  }
  sandbox::Plan plan(std::vector<std::string> words) const {
    words.insert(words.begin(), CORDON_TEST_TRACED);
    sandbox::LaunchSpec spec = test::spec_for(std::move(words), BackendChoice::native);
    spec.mounts = {{folder / "read", folder / "read", false}, {folder / "write", folder / "write", true}};
    return test::plan_for(spec);
  }
  std::string operator/(const std::string& name) const { return folder / name; }
};

long ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

}  // namespace

#define NEEDS_NATIVE()                          \
  if (test::must_skip(BackendChoice::native)) { \
    return;                                     \
  }

TEST_CASE("what a server reads, writes and is refused is told, each thing once and with its outcome") {
  NEEDS_NATIVE();
  const Grants grants;
  const Traced traced = run_traced(
      grants.plan({"read|" + grants / "read/file", "read|" + grants / "read/file", "look|" + grants / "read/absent",
                   "list|" + grants / "read", "write|" + grants / "read/file", "create|" + grants / "read/new",
                   "write|" + grants / "write/file", "create|" + grants / "write/new", "mkdir|" + grants / "write/sub",
                   "move|" + grants / "write/new", "read|" + grants / "beside/file"}));
  CHECK(traced.outcome.status == "");
  CHECK(traced.bad == "");
  CHECK(traced.ended);
  CHECK(traced.end.dropped == 0);
  CHECK(traced.end.unread == 0);
  CHECK(traced.has(TraceAccess::read, grants / "read/file"));
  CHECK(traced.has(TraceAccess::look, grants / "read/absent", ENOENT));
  CHECK(traced.has(TraceAccess::list, grants / "read"));
  CHECK(traced.has(TraceAccess::write, grants / "read/file", EROFS));
  CHECK(traced.has(TraceAccess::change, grants / "read/new", EROFS));
  CHECK(traced.has(TraceAccess::write, grants / "write/file"));
  CHECK(traced.has(TraceAccess::change, grants / "write/new"));
  CHECK(traced.has(TraceAccess::change, grants / "write/sub"));
  CHECK(traced.has(TraceAccess::change, grants / "write/new.moved"));
  CHECK(traced.has(TraceAccess::read, grants / "beside/file", ENOENT));
}

TEST_CASE("which sockets are reached is told") {
  NEEDS_NATIVE();
  const test::TempFolder folder;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  (folder / "socket").copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener.get(), 8) == 0);
  sandbox::LaunchSpec spec = test::spec_for(
      {CORDON_TEST_TRACED, "dial|" + folder / "socket", "dial|" + folder / "other"}, BackendChoice::native);
  spec.unix_sockets = {folder / "socket"};
  const Traced traced = run_traced(test::plan_for(spec));
  CHECK(traced.has(TraceAccess::connect, "unix:" + folder / "socket"));
  CHECK(traced.has(TraceAccess::connect, "unix:" + folder / "other", ENOENT));
}

TEST_CASE("what our own helper does before the server runs is not told") {
  NEEDS_NATIVE();
  const Traced traced = run_traced(Grants().plan({}));
  CHECK(traced.ended);
  CHECK_FALSE(traced.names("/proc/self/status"));
  CHECK_FALSE(traced.names(CORDON_TEST_TRACED));
}

TEST_CASE("a traced server meets the same answers as one that is not") {
  NEEDS_NATIVE();
  const Grants grants;
  const std::vector<std::string> words = {"read|" + grants / "read/file",
                                          "write|" + grants / "read/file",
                                          "create|" + grants / "read/new",
                                          "write|" + grants / "write/file",
                                          "read|" + grants / "beside/file",
                                          "read|/etc/shadow",
                                          "write|/etc/passwd",
                                          "mkdir|/usr/x",
                                          "read|/proc/1/environ",
                                          "look|/proc/kcore",
                                          "dial|/run/dbus/socket",
                                          "read|/proc/1/mem"};
  const test::Outcome plain = test::run(grants.plan(words));
  const Traced traced = run_traced(grants.plan(words));
  CHECK(plain.out != "");
  CHECK(traced.outcome.out == plain.out);
  CHECK(traced.outcome.exit_code == plain.exit_code);
}

namespace {

std::string told(const sandbox::boundary::Finding& finding) {
  return text::cat(finding.id, ' ', name(finding.verdict), ' ', finding.attempts, '\n');
}

// The whole probe, untraced and traced, each with canaries of its own; empty: it found the same, and nothing wrong.
std::string compare_probes() {
  std::string untraced;
  {
    const test::Planted planted;
    const test::Look look = test::look(planted.plan(BackendChoice::native), planted);
    for (const auto& finding : look.findings) {
      untraced += told(finding);
    }
  }
  const test::Planted planted;
  sandbox::Plan plan = planted.plan(BackendChoice::native);
  plan.trace = true;
  TracePipe pipe = trace_pipe();
  std::string lines;
  std::thread reader([&] { lines = test::read_to_end(pipe.in.get()); });
  const test::Look look = test::look(plan, planted, pipe.out.get());
  pipe.out.reset();
  reader.join();
  std::string wrong = test::wrong_in(look);
  std::string traced;
  for (const auto& finding : look.findings) {
    traced += told(finding);
  }
  wrong += traced == untraced ? std::string() : text::cat("untraced:\n", untraced, "traced:\n", traced);
  wrong += look.attempts >= 200 ? std::string() : text::cat("only ", look.attempts, " attempts\n");
  return lines.find("\ne ") == std::string::npos ? wrong + "no end of the trace\n" : wrong;
}

}  // namespace

TEST_CASE("the whole probe finds the same while it is traced: the boundary holds") {
  NEEDS_NATIVE();
  CHECK(test::as_we_are(compare_probes) == "");
  CHECK(test::as_ordinary_user(compare_probes) == "");
}

TEST_CASE("children, threads and programs that are started are followed") {
  NEEDS_NATIVE();
  const Grants grants;
  const Traced traced = run_traced(grants.plan({"fork|" + grants / "read/file", "thread|" + grants / "read/t",
                                                "run|/bin/true", "again|" + grants / "write/file"}));
  CHECK(traced.bad == "");
  CHECK(traced.has(TraceAccess::read, grants / "read/file"));
  for (int i = 0; i < 10; ++i) {
    CHECK(traced.has(TraceAccess::read, text::cat(grants / "read/t", i)));
  }
  CHECK((traced.has(TraceAccess::execute, "/bin/true") || traced.has(TraceAccess::execute, "/usr/bin/true")));
  CHECK(traced.has(TraceAccess::execute, "/proc/self/exe"));
  CHECK(traced.has(TraceAccess::read, grants / "write/file"));
  CHECK(traced.outcome.out.ends_with(text::cat("read ", grants / "write/file", " 0\n")));
}

TEST_CASE("a process that hides from the tracer is refused, not let through") {
  NEEDS_NATIVE();
  const Grants grants;
  const std::vector<std::string> words = {"hide|" + grants / "read/file"};
  CHECK(test::run(grants.plan(words)).out == text::cat("hide ", grants / "read/file", " 0\n"));
  CHECK(run_traced(grants.plan(words)).outcome.out == text::cat("hide ", grants / "read/file ", ENOSYS, "\n"));
}

TEST_CASE("signals work as without a tracer") {
  NEEDS_NATIVE();
  const Grants grants;
  const Traced stopped = run_traced(grants.plan({"stop|" + grants / "read/file"}));
  CHECK(stopped.outcome.out == text::cat("stop ", grants / "read/file", " 0\n"));
  CHECK(stopped.has(TraceAccess::read, grants / "read/file"));
  const Traced died = run_traced(grants.plan({"read|" + grants / "read/file", "abort|"}));
  CHECK(died.outcome.exit_code == 128 + SIGABRT);
  CHECK(died.has(TraceAccess::read, grants / "read/file"));
  CHECK(died.ended);
}

TEST_CASE("a flood of names is bounded, and says so") {
  NEEDS_NATIVE();
  const Grants grants;
  const Traced traced = run_traced(grants.plan({"flood|/x/", "read|" + grants / "read/file"}));
  CHECK(traced.outcome.exit_code == 0);
  CHECK(traced.findings.size() <= sandbox::kMaxTraceFindings);
  CHECK(traced.end.dropped > 10'000);
  CHECK(traced.end.calls > 20'000);
}

TEST_CASE("relative paths are told as absolute ones") {
  NEEDS_NATIVE();
  const Grants grants;
  const Traced traced = run_traced(grants.plan({"go|" + grants / "read", "read|file", "look|../beside", "read|none"}));
  CHECK(traced.has(TraceAccess::read, grants / "read/file"));
  CHECK(traced.has(TraceAccess::look, grants / "beside", ENOENT));
  CHECK(traced.has(TraceAccess::read, grants / "read/none", ENOENT));
}

TEST_CASE("without a reader of the trace the server goes on, and ends in time") {
  NEEDS_NATIVE();
  const Grants grants;
  for (const bool closed : {true, false}) {
    sandbox::Plan plan = grants.plan({"flood|/" + std::string(100, 'x'), "wait"});
    plan.trace = true;
    TracePipe pipe = trace_pipe();
    sandbox::Launched launched = test::start(plan, pipe.out.get());
    pipe.out.reset();
    if (closed) {
      pipe.in.reset();
    }
    CHECK(test::read_until(launched.server_out.get(), "waiting\n").ends_with("waiting\n"));
    const auto start = Clock::now();
    CHECK(test::finish(std::move(launched)).exit_code == 0);
    CHECK(ms_since(start) < 1000);
  }
}

TEST_CASE("a flooding server is ended in time, whoever asks for it") {
  NEEDS_NATIVE();
  const Grants grants;
  const std::vector<std::string> words(1000, "flood|/x/");
  for (const int blow : {0, SIGTERM, SIGKILL}) {
    sandbox::Plan plan = grants.plan(words);
    plan.trace = true;
    TracePipe pipe = trace_pipe();
    sandbox::Launched launched = test::start(plan, pipe.out.get());
    pipe.out.reset();
    std::array<char, 4096> some = {};
    REQUIRE(::read(pipe.in.get(), some.data(), some.size()) > 0);
    const auto start = Clock::now();
    if (blow == 0) {
      launched.lifeline.reset();
    } else {
      ::kill(launched.pid, blow);
    }
    // Both the server's output and the trace come to their end: nobody is left that holds them.
    (void)test::read_to_end(launched.server_out.get());
    (void)test::read_to_end(pipe.in.get());
    CHECK(::waitpid(launched.pid, nullptr, 0) == launched.pid);
    CHECK(ms_since(start) < 1000);
  }
}

TEST_CASE("a launcher killed at any moment of a traced launch leaves nothing behind") {
  NEEDS_NATIVE();
  const Grants grants;
  sandbox::Plan plan = grants.plan(std::vector<std::string>(1000, "flood|/x/"));
  plan.trace = true;
  CHECK(test::in_child([&]() -> std::string {
          ::prctl(PR_SET_CHILD_SUBREAPER, 1);
          for (int i = 0; i < 30; ++i) {
            const pid_t launcher = ::fork();
            if (launcher == 0) {
              const TracePipe pipe = trace_pipe();
              const auto launched =
                  sandbox::launch(plan, {.trace_fd = pipe.out.get(), .stage_path = CORDON_TEST_STAGE});
              for (;;) {
                ::pause();
              }
            }
            const timespec moment = {.tv_sec = 0, .tv_nsec = 400'000L * i};
            ::nanosleep(&moment, nullptr);
            ::kill(launcher, SIGKILL);
            const auto start = Clock::now();
            for (pid_t ended = 0; (ended = ::waitpid(-1, nullptr, WNOHANG)) >= 0;) {
              if (ms_since(start) > 3000) {
                return text::cat("something is left after blow ", i);
              }
              if (ended == 0) {
                ::poll(nullptr, 0, 1);
              }
            }
          }
          return {};
        }) == "");
}

TEST_CASE("where nobody may be followed, nothing is started") {
  NEEDS_NATIVE();
  const Grants grants;
  sandbox::Plan plan = grants.plan({"read|" + grants / "read/file"});
  plan.trace = true;
  const std::string status = test::in_child([&]() -> std::string {
    // What the helper inherits: ptrace() is refused, as it is where an administrator has switched it off.
    const std::array<sock_filter, 4> code = {{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                              {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_ptrace},
                                              {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
                                              {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
    std::array<sock_filter, 4> filter = code;
    const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
      return errno_text("seccomp", errno);
    }
    const TracePipe pipe = trace_pipe();
    const test::Outcome outcome = test::finish(test::start(plan, pipe.out.get()));
    return text::cat(outcome.out, outcome.status);
  });
  const Error error = sandbox::error_from_status(status, "native");
  CHECK(error.code == Errc::unsupported_isolation);
  CHECK(error.detail == "trace: follow the server: Operation not permitted (errno 1): reason ptrace_denied");
}

TEST_CASE("a traced launch without a pipe for it is refused") {
  NEEDS_NATIVE();
  sandbox::Plan plan = Grants().plan({});
  plan.trace = true;
  CHECK_FALSE(sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE}));
}
