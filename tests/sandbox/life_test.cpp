// SPDX-License-Identifier: Apache-2.0
// The end of a launch: whoever is asked or killed, nothing stays behind. That everything is gone shows in two ways:
// the server's stdout, which every descendant has inherited, comes to its end; and a subreaper has no child left.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "base/text.hpp"
#include "blows.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::array kBackends = {BackendChoice::native, BackendChoice::bubblewrap, BackendChoice::landlock};

// A server that ignores requests to end and has left a daemon in a session of its own.
constexpr const char* kStubborn =
    "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & echo up; "
    "while :; do sleep 1; done";

long ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

sandbox::Plan plan_of(BackendChoice backend, const std::string& script) {
  return test::plan_for(test::spec_for({"/bin/sh", "-c", script}, backend));
}

// Ends a stubborn server through `end` and gives how long it took until nobody held its stdout any more.
template <typename End>
long time_to_end(BackendChoice backend, End end) {
  sandbox::Launched launched = test::start(plan_of(backend, kStubborn));
  REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
  const auto start = Clock::now();
  end(launched);
  (void)test::read_to_end(launched.server_out.get());
  (void)test::wait_for(launched.pid);
  return ms_since(start);
}

template <typename Body>
void under_each(Body body) {
  for (const BackendChoice backend : kBackends) {
    if (!test::must_skip(backend)) {
      CAPTURE(backend);
      body(backend);
    }
  }
}

}  // namespace

TEST_CASE("asked to terminate, a stubborn server and its daemon are gone within a second") {
  under_each([](BackendChoice backend) {
    CHECK(time_to_end(backend, [](sandbox::Launched& launched) { ::kill(launched.pid, SIGTERM); }) < 1000);
  });
}

TEST_CASE("when the lifeline closes, everything is gone at once") {
  under_each([](BackendChoice backend) {
    CHECK(time_to_end(backend, [](sandbox::Launched& launched) { launched.lifeline.reset(); }) < 500);
  });
}

TEST_CASE("when the guard outside is killed, everything is gone at once") {
  under_each([](BackendChoice backend) {
    CHECK(time_to_end(backend, [](sandbox::Launched& launched) { ::kill(launched.pid, SIGKILL); }) < 500);
  });
}

TEST_CASE("the end of the server is the end of all that it started") {
  under_each([](BackendChoice backend) {
    sandbox::Launched launched =
        test::start(plan_of(backend, "setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & exit 5"));
    CHECK(test::read_to_end(launched.server_out.get()) == "");
    CHECK(test::wait_for(launched.pid) == 5);
  });
}

TEST_CASE("signals are handed on to the server") {
  under_each([](BackendChoice backend) {
    for (const auto& [number, word] :
         {std::pair(SIGTERM, "TERM"), std::pair(SIGINT, "INT"), std::pair(SIGHUP, "HUP")}) {
      sandbox::Launched launched = test::start(plan_of(
          backend, text::cat("trap 'echo ", word, "; exit 3' ", word, "; echo up; while :; do sleep 0.05; done")));
      REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
      ::kill(launched.pid, number);
      CHECK(test::read_to_end(launched.server_out.get()) == text::cat(word, "\n"));
      CHECK(test::wait_for(launched.pid) == 3);
    }
  });
}

TEST_CASE("a server that is killed by a signal gives 128 and its number") {
  under_each(
      [](BackendChoice backend) { CHECK(test::run(plan_of(backend, "kill -SEGV $$")).exit_code == 128 + SIGSEGV); });
}

TEST_CASE("init reaps what the server leaves") {
  under_each([](BackendChoice backend) {
    if (sandbox::shows_host_paths(backend)) {
      return;  // other processes cannot be looked at
    }
    // Orphans become init's children; a zombie would stay in /proc for as long as init lives.
    // The pipe ends when all of them have let go of it; one that ends in this very moment is waited for.
    const char* script =
        "for i in 1 2 3 4 5; do (sh -c 'exit 0' &) ; done | cat; n=0; clean=0; "
        "while [ $clean -lt 3 ] && [ $n -lt 200 ]; do "
        "if grep -qs '^State:.Z' /proc/[0-9]*/status; then clean=0; else clean=$((clean+1)); fi; "
        "n=$((n+1)); sleep 0.02; done; "
        "if [ $clean = 3 ]; then echo none; else grep -s '^State:.Z' /proc/[0-9]*/status; fi";
    CHECK(test::run(plan_of(backend, script)).out == "none\n");
  });
}

TEST_CASE("the guard has a session of its own") {
  under_each([](BackendChoice backend) {
    sandbox::Launched launched = test::start(plan_of(backend, "echo up; cat"));
    REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
    CHECK(::getsid(launched.pid) == launched.pid);
    launched.server_in.reset();
    CHECK(test::wait_for(launched.pid) == 0);
  });
}

namespace {

// The only child of the guard: where there is no pid namespace, it adopts what the server leaves.
std::string kill_keeper(const sandbox::Plan& plan) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sandbox::Launched launched = test::start(plan);
  (void)test::read_until(launched.server_out.get(), "up\n");
  const std::string list = test::read_file(text::cat("/proc/", launched.pid, "/task/", launched.pid, "/children"));
  ::kill(static_cast<pid_t>(std::strtol(list.c_str(), nullptr, 10)), SIGKILL);
  return test::all_gone("the keeper", {});
}

}  // namespace

TEST_CASE("when the keeper is killed, everything is gone, daemons too") {
  under_each([](BackendChoice backend) {
    if (backend != BackendChoice::native) {
      CHECK(kill_keeper(plan_of(backend, kStubborn)) == "");
    }
  });
}

TEST_CASE("a launcher or a guard killed at any moment leaves nothing behind") {
  under_each([](BackendChoice backend) {
    const sandbox::Plan plan = plan_of(backend, kStubborn);
    const int step_us = backend == BackendChoice::native ? 300 : 800;
    for (int i = 0; i < 40; ++i) {
      CHECK(test::kill_launcher(plan, std::chrono::microseconds(step_us * i)) == "");
      CHECK(test::kill_guard(plan, std::chrono::microseconds(step_us * i)) == "");
    }
  });
}
