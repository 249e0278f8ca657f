// SPDX-License-Identifier: Apache-2.0
#include "run/proxy.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.hpp"
#include "run/harness.hpp"
#include "run/signals.hpp"
#include "support/temp_dir.hpp"

using namespace cordon;
using namespace cordon::run;
using cordon::run::test::Behaviour;
using cordon::run::test::ClientKind;
using cordon::run::test::numbered;
using cordon::run::test::ProxyRun;
using cordon::run::test::readable;
using cordon::test::slurp;
using cordon::test::spill;
using cordon::test::TempDir;

namespace {

constexpr int kStatus = 7;

// The address sanitizer keeps freed memory for a while.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif
constexpr std::int64_t kMaxResidentKb = kSanitized ? 500'000 : 40'000;

std::int64_t since(Instant start) { return monotonic_now() - start; }

bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("bytes pass both ways, and the end of the client ends all with the engine's status") {
  for (const ClientKind kind : {ClientKind::pipe, ClientKind::socket}) {
    ProxyRun run({.client = kind});
    run.send("hello\n");
    CHECK(run.receive(6) == "hello\n");
    run.send("again\n");
    CHECK(run.receive(6) == "again\n");
    const Instant start = monotonic_now();
    run.close_input();
    CHECK(run.receive_all().empty());
    CHECK(run.wait() == kStatus);
    CHECK(since(start) < 1000);
    CHECK(run.trace == "start\nend client\nend server\nexited status 0\n");
  }
}

TEST_CASE("a long message passes whole through both kinds of client") {
  const std::string text = numbered(9'000'000);
  for (const ClientKind kind : {ClientKind::pipe, ClientKind::socket}) {
    ProxyRun run({.client = kind});
    const pid_t writer = ::fork();  // both directions at once
    REQUIRE(writer >= 0);
    if (writer == 0) {
      run.send(text);
      ::_exit(0);
    }
    const std::string got = run.receive(text.size());
    CHECK(got == text);
    REQUIRE(::waitpid(writer, nullptr, 0) == writer);
    run.close_input();
    CHECK(run.wait() == kStatus);
  }
}

TEST_CASE("a record comes before the forward, and when it fails nothing is forwarded") {
  ProxyRun run({.behaviour = {.record_chunks = true, .fail_record = 1}});
  run.send("first\n");
  CHECK(run.receive(6) == "first\n");
  run.send("second\n");
  CHECK(run.receive_all() == "audit failed\n");
  CHECK(run.wait() == exit_status(Errc::audit_unavailable));
  CHECK(run.trace.contains("audit failed\n"));
  CHECK(run.log_to_end().contains("audit: no space"));
}

TEST_CASE("after a failed record nothing reaches the server, whatever the engine says") {
  ProxyRun run({.behaviour = {.record_chunks = true, .fail_record = 0, .stop_on_audit_failure = false}});
  run.send("first\n");
  CHECK(run.receive_all() == "audit failed\n");  // the server would have sent back what it got
  CHECK(run.wait() == kStatus);
  CHECK(run.trace.contains("exited status 0\n"));
}

TEST_CASE("a full disk under the real log stops the calls") {
  const TempDir dir;
  ProxyRun run({.behaviour = {.record_chunks = true},
                .before =
                    [] {
                      const rlimit limit{1500, 1500};
                      ::setrlimit(RLIMIT_FSIZE, &limit);
                    },
                .audit_state_dir = dir / "state"});
  std::size_t passed = 0;
  for (;;) {
    run.send("x\n");
    const std::string got = run.receive(2);
    if (got != "x\n") {
      CHECK(got == "au");
      break;
    }
    ++passed;
  }
  CHECK(passed > 0);
  CHECK(passed < 20);
  CHECK(run.wait() == exit_status(Errc::audit_unavailable));
  const auto folder = audit::Folder::open(dir / "state", "demo");
  REQUIRE(folder);
  const auto report = audit::verify_folder(*folder, {});
  REQUIRE(report);
  CHECK(report->records == passed + 1);  // what was forwarded is in the log
}

TEST_CASE("a server that stalls costs bounded memory and holds the client back") {
  ProxyRun run({.script = "exec sleep 100"});
  const std::string chunk(65536, 'x');
  const std::size_t sent = run.send_until_stuck(chunk, 200'000'000, 300);
  CHECK(sent < 3'000'000);
  CHECK(run.resident_kb() < kMaxResidentKb);
  const Instant start = monotonic_now();
  run.close_input();  // while it is held back
  CHECK(run.wait() == kStatus);
  CHECK(since(start) < 2000);
  CHECK(run.trace.contains("end client\n"));
}

TEST_CASE("a client that stalls costs bounded memory, and loses nothing when it goes on") {
  ProxyRun run({.script = "i=0; while :; do echo $i; i=$((i+1)); done | head -c 30000000",
                .tune = [](ProxyConfig& config) { config.queue_bytes = 300'000; }});
  REQUIRE(run.wait_for("start"));
  // The server is held back once queue and pipes are full: its output stops to arrive.
  REQUIRE(readable(run.out.get(), 5000));
  const std::string first = run.receive(1000);
  CHECK(run.resident_kb() < kMaxResidentKb);
  const std::string rest = run.receive(2'999'000);
  CHECK(first + rest == numbered(3'000'000).substr(0, 3'000'000));
  CHECK(run.resident_kb() < kMaxResidentKb);
}

TEST_CASE("a client that asks without reading answers is held back") {
  ProxyRun run({.script = "exec cat", .behaviour = {.answer_client = true}, .tune = [](ProxyConfig& config) {
                  config.max_queue_bytes = 500'000;
                }});
  const std::size_t sent = run.send_until_stuck(std::string(65536, 'x'), 200'000'000, 300);
  CHECK(sent < 2'000'000);
  // What was accepted is answered.
  run.close_input();
  CHECK(run.receive_all().size() == sent);
  CHECK(run.wait() == kStatus);
}

TEST_CASE("a server that asks without reading answers is held back") {
  ProxyRun run({.script = "while :; do echo question; done",
                .behaviour = {.answer_server = true},
                .tune = [](ProxyConfig& config) { config.max_queue_bytes = 500'000; }});
  REQUIRE(run.wait_for("start"));
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(run.trace.contains("exited signal 9\n"));
}

TEST_CASE("a server that writes before it reads does not lock up") {
  // It takes its input only after 4 MB of output, while more than a queue waits for it.
  ProxyRun run({.script = "head -c 4000000 /dev/zero; exec cat >/dev/null",
                .tune = [](ProxyConfig& config) { config.queue_bytes = 200'000; }});
  const std::size_t sent = run.send_until_stuck(std::string(65536, 'x'), 400'000, 2000);
  CHECK(sent >= 300'000);
  CHECK(run.receive(4'000'000).size() == 4'000'000);
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(run.trace.contains("exited status 0\n"));
}

TEST_CASE("what a server wrote before it exited arrives, however slowly the client reads") {
  // The first part fills the queue, so that the server is held; the second stays in its pipe when it exits.
  constexpr std::size_t kAll = 1'050'000;
  ProxyRun run({.script = "head -c 1010000 /dev/zero; head -c 40000 /dev/zero; exit 3",
                .tune = [](ProxyConfig& config) { config.queue_bytes = 940'000; }});
  REQUIRE(run.wait_for("start"));
  REQUIRE(readable(run.out.get(), 5000));
  CHECK(run.quiet_for(500));  // longer than the output of a dead server is waited for
  std::size_t got = 0;
  while (got < kAll) {
    const std::size_t more = run.receive(50'000).size();
    REQUIRE(more > 0);
    got += more;
  }
  CHECK(run.receive_all().empty());
  CHECK(run.wait() == kStatus);
  CHECK(run.trace == "start\nend server\nexited status 3\n");
}

TEST_CASE("an exit is reported although a grandchild keeps the output open") {
  ProxyRun run({.script = "echo out; sleep 100 & exit 4"});
  const Instant start = monotonic_now();
  CHECK(run.receive_all() == "out\n");
  CHECK(run.wait() == kStatus);
  CHECK(since(start) < 3500);
  CHECK(run.trace == "start\nend server\nexited status 4\n");
}

TEST_CASE("a death by signal is reported as one") {
  ProxyRun run({.script = "kill -SEGV $$"});
  CHECK(run.wait() == kStatus);
  CHECK(run.trace == "start\nend server\nexited signal 11\n");
}

TEST_CASE("a server that closes its input is at its end, after what it still says") {
  ProxyRun run({.script = "exec 0<&-; echo bye; exec sleep 100", .behaviour = {.stop_on_server_end = true}});
  CHECK(run.receive(4) == "bye\n");
  run.send("x\n");
  CHECK(run.receive_all().empty());
  CHECK(run.wait() == kStatus);
  CHECK(run.trace == "start\nend server\n");
}

TEST_CASE("a client that closes its end of stdout has left") {
  ProxyRun run({.script = "while echo x; do :; done"});
  run.receive(2);
  run.out.reset();
  CHECK(run.wait() == kStatus);
  CHECK(run.trace.contains("end client\n"));
}

TEST_CASE("a server that ignores its end is killed within the client's patience") {
  ProxyRun run({.script = "trap '' TERM; echo up; while :; do sleep 100; done"});
  REQUIRE(run.receive(3) == "up\n");
  const Instant start = monotonic_now();
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(since(start) < 4000);
}

TEST_CASE("an engine that never ends is cut off in time") {
  {
    ProxyRun run({.script = "trap '' TERM; while :; do sleep 100; done",
                  .behaviour = {.close_on_end = false, .kill_after_end_ms = 60'000}});
    const Instant start = monotonic_now();
    run.close_input();
    CHECK(run.wait() == exit_status(Errc::timed_out));
    CHECK(since(start) < 4000);
    CHECK(run.log_to_end().contains("cut off"));
  }
  ProxyRun run({.script = "trap '' TERM; echo up; while :; do sleep 100; done"});
  REQUIRE(run.receive(3) == "up\n");
  const Instant start = monotonic_now();
  REQUIRE(::kill(run.pid, SIGTERM) == 0);
  CHECK(run.wait() == exit_status(Errc::timed_out));
  CHECK(since(start) < 1000);
}

TEST_CASE("signals end the server, within a second") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    // Whoever started the tests may have ignored some of them (nohup, a job in the background), and that stays so.
    ProxyRun run({.script = "exec sleep 100", .before = [] {
                    for (const int each : {SIGTERM, SIGINT, SIGHUP}) {
                      ::signal(each, SIG_DFL);
                    }
                  }});
    REQUIRE(run.wait_for("start"));
    const Instant start = monotonic_now();
    REQUIRE(::kill(run.pid, number) == 0);
    CHECK(run.wait() == kStatus);
    CHECK(since(start) < 1000);
    CHECK(run.trace == "start\nterminate\nend server\nexited signal 15\n");
  }
}

TEST_CASE("blocked signals are heard and ignored ones stay ignored") {
  ProxyRun run({.before = [] {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    ::signal(SIGHUP, SIG_IGN);
  }});
  REQUIRE(run.wait_for("start"));
  REQUIRE(::kill(run.pid, SIGHUP) == 0);
  for (int i = 0; i < 3; ++i) {  // it goes on
    run.send("x\n");
    REQUIRE(run.receive(2) == "x\n");
  }
  CHECK(run.quiet_for(0));
  REQUIRE(::kill(run.pid, SIGINT) == 0);
  REQUIRE(run.wait_for("terminate"));
  CHECK(run.trace == "start\nterminate\n");
}

TEST_CASE("what the server started and left behind is gone with it") {
  const TempDir dir;
  ProxyRun run({.script = text::cat("setsid sh -c 'echo $$ > ", dir.path(), "/pid; exec sleep 100' >/dev/null 2>&1 & ",
                                    "while [ ! -s ", dir.path(), "/pid ]; do sleep 0.01; done; echo up; exec cat")});
  REQUIRE(run.receive(3) == "up\n");
  const pid_t orphan = std::stoi(slurp(dir / "pid"));
  CHECK(alive(orphan));
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK_FALSE(alive(orphan));
}

TEST_CASE("the lifeline is let go when the server has to end, and when the proxy is killed") {
  {
    ProxyRun run({});
    REQUIRE(run.wait_for("start"));
    CHECK_FALSE(readable(run.lifeline.get(), 0));
    REQUIRE(::kill(run.pid, SIGKILL) == 0);
    CHECK(readable(run.lifeline.get(), 5000));
  }
  ProxyRun run({.script = "exec sleep 100", .behaviour = {.kill_after_end_ms = 0}});
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(readable(run.lifeline.get(), 0));
}

TEST_CASE("without a server the engine has the client to itself") {
  ProxyRun run({.script = "",
                .behaviour = {
                    .answer_client = true, .tick_after_start_ms = 10, .stop_on_client_end = true, .greeting = "hi\n"}});
  CHECK(run.receive(3) == "hi\n");
  run.send("question\n");
  CHECK(run.receive(9) == "question\n");
  CHECK(run.wait_for("tick"));
  run.close_input();
  CHECK(run.wait() == kStatus);
}

TEST_CASE("an engine that stops at once is obeyed, and what it said arrives") {
  ProxyRun run({.script = "exec sleep 100", .behaviour = {.greeting = "no\n", .stop_at_start = true}});
  CHECK(run.receive_all() == "no\n");
  CHECK(run.wait() == kStatus);
}

TEST_CASE("after the end a client that never reads is not waited for once it hangs up") {
  ProxyRun run({.script = "head -c 500000 /dev/zero", .tune = [](ProxyConfig& config) { config.end_limit_ms = 200; }});
  REQUIRE(run.wait_for("exited status 0"));
  const Instant start = monotonic_now();
  run.close_input();
  CHECK(run.wait() == kStatus);
  CHECK(since(start) < 1000);
}

TEST_CASE("lines on stderr arrive with the server's name, also the last ones before its death") {
  ProxyRun run({.script = "echo begin >&2; read line; echo 'end of it' >&2; printf 'half' >&2; exit 1"});
  run.send("\n");
  CHECK(run.wait() == kStatus);
  CHECK(run.log_to_end() == "[demo] begin\n[demo] end of it\n[demo] half\n");
}

TEST_CASE("what the launch has to say at the server's end is ours, and comes before that end") {
  ProxyRun run({.script = "exit 1", .tune = [](ProxyConfig& config) {
                  std::array<int, 2> ends = {-1, -1};
                  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
                  const std::string_view lines = "too much memory\nand \x1b[2J twice\n";
                  REQUIRE(::write(ends[1], lines.data(), lines.size()) == static_cast<ssize_t>(lines.size()));
                  config.server.notes = UniqueFd(ends[0]);
                  ::close(ends[1]);
                }});
  CHECK(run.wait() == kStatus);
  CHECK(run.log_to_end() == "mcp-cordon: too much memory\nmcp-cordon: and \\x1b[2J twice\n");
}

TEST_CASE("a flood on stderr neither blocks nor grows") {
  ProxyRun run({.script = "yes error-line >&2 & exec cat"});
  for (int i = 0; i < 20; ++i) {
    run.send("ping\n");
    REQUIRE(run.receive(5) == "ping\n");
  }
  CHECK(run.resident_kb() < kMaxResidentKb);
  CHECK(std::ranges::count(run.log(), '\n') < 1000);
  run.close_input();
  CHECK(run.wait() == kStatus);
}

TEST_CASE("quiet writes do not reach programs that we start") {
  const QuietWrites quiet;
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 0", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGPIPE);
}

TEST_CASE("the status pipe tells success, failure and silence apart") {
  {
    cordon::test::Pipe pipe;
    pipe.write.reset();
    CHECK(wait_until_started(pipe.read.get(), 5000));
  }
  {
    cordon::test::Pipe pipe;
    REQUIRE(::write(pipe.write.get(), "mounts: no\x1b space\n", 18) == 18);
    pipe.write.reset();
    const Status failed = wait_until_started(pipe.read.get(), 5000);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == Errc::launch_failed);
    CHECK(failed.error().detail == "mounts: no\\x1b space");
  }
  cordon::test::Pipe pipe;
  const Status silent = wait_until_started(pipe.read.get(), 20);
  REQUIRE_FALSE(silent);
  CHECK(silent.error().detail.contains("within 20 ms"));
}
