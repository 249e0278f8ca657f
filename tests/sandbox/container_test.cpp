// SPDX-License-Identifier: Apache-2.0
// podman, for real: an image made of static programs is started by a plan.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/text.hpp"
#include "image.hpp"
#include "planted.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

// Makes the image once for all tests of this file.
const test::Image* image() {
  static const std::optional<test::Image> made = test::Image::make({});
  return made ? &*made : nullptr;
}

sandbox::LaunchSpec spec_in(const test::Place& place, std::vector<std::string> argv) {
  sandbox::LaunchSpec spec = test::spec_for(std::move(argv), BackendChoice::podman);
  spec.image.reference = image()->reference();
  spec.scratch = place.scratch;
  return spec;
}

// Skips with the reason where podman cannot start anything; CORDON_REQUIRE_SANDBOX=1 makes that a failure.
bool must_skip() {
  sandbox::LaunchSpec spec = test::spec_for({"/bin/sh"}, BackendChoice::podman);
  const auto facts = sandbox::probe_host(spec, "");
  std::string reason;
  if (!facts) {
    reason = facts.error().to_string();
  } else if (!facts->podman.trial.works) {
    reason = text::cat("podman: ", facts->podman.trial.reason, ": ", facts->podman.trial.hint);
  } else if (test::static_shell().empty()) {
    reason = "no static busybox (apt-get install busybox-static)";
  } else if (image() == nullptr) {
    reason = "podman cannot import an image";
  }
  if (reason.empty()) {
    return false;
  }
  const char* required = std::getenv("CORDON_REQUIRE_SANDBOX");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL("CORDON_REQUIRE_SANDBOX=1, but: ", reason);
  }
  std::fprintf(stderr, "SKIPPED: %s\n", reason.c_str());
  return true;
}

constexpr const char* kStubborn =
    "trap '' TERM INT HUP; sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & echo up; while :; do sleep 1; done";

using Clock = std::chrono::steady_clock;

long ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

// Within a second, or `end` (which gives the milliseconds that it took) is done again: an engine's start and end are
// the machine's business, too, and that may be busy.
template <typename End>
bool in_time(End end) {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    if (end() < 1000) {
      return true;
    }
  }
  return false;
}

// The moment of a blow, not a wait for something.
void let_pass(std::chrono::microseconds delay) {
  const timespec wait = {.tv_sec = delay.count() / 1'000'000, .tv_nsec = (delay.count() % 1'000'000) * 1000};
  ::nanosleep(&wait, nullptr);
}

// The first process below `parent` of that name; any name when it is empty.
pid_t child_of(pid_t parent, const std::string& name) {
  std::vector<pid_t> list = {parent};
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::istringstream children(test::read_file(text::cat("/proc/", list[i], "/task/", list[i], "/children")));
    for (pid_t pid = 0; children >> pid;) {
      if (name.empty() || test::read_file(text::cat("/proc/", pid, "/comm")) == name + "\n") {
        return pid;
      }
      list.push_back(pid);
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("a program of an image answers over the launcher's own pipes") {
  if (must_skip()) {
    return;
  }
  const test::Place place;
  const test::Outcome outcome =
      test::run(test::plan_for(spec_in(
                    place, {"sh", "-c", "read line; echo got $line; echo to-err >&2; id -u; pwd; env; exit 7"})),
                "hello\n");
  CHECK(outcome.status == "");
  CHECK(outcome.out.find("got hello\n") == 0);
  CHECK(outcome.out.find("\n/srv\n") != std::string::npos);
  CHECK(outcome.out.find("COLOUR=blue\n") != std::string::npos);
  CHECK(outcome.out.find("HOME=/home/cordon\n") != std::string::npos);
  CHECK(outcome.err == "to-err\n");
  CHECK(outcome.exit_code == 7);
  CHECK(test::all_gone(place) == "");
}

TEST_CASE("podman holds against the probe, and its plan says what the probe finds") {
  if (must_skip()) {
    return;
  }
  constexpr int kAttemptsAtLeast = 200;
  const test::Place place;
  const test::Planted planted;
  const sandbox::Plan plan = planted.plan(BackendChoice::podman, [&](sandbox::LaunchSpec& spec) {
    spec.argv = {"true"};
    spec.image.reference = image()->reference();
    spec.scratch = place.scratch;
  });
  const test::Look look = test::look(plan, planted);
  CHECK(test::wrong_in(look) == "");
  CHECK(look.attempts >= kAttemptsAtLeast);
  for (const auto& finding : look.findings) {
    // What was crossed, the plan did not promise.
    if (finding.verdict == sandbox::boundary::Verdict::expected) {
      const auto* promise = sandbox::boundary::promise_for(plan, finding.guarantee);
      CHECK_MESSAGE((promise == nullptr || promise->strength != sandbox::Strength::enforced), finding.id);
    }
  }
}

TEST_CASE("asked to terminate, a stubborn server in a container is gone within a second") {
  if (must_skip()) {
    return;
  }
  CHECK(in_time([] {
    const test::Place place;
    sandbox::Launched launched = test::start(test::plan_for(spec_in(place, {"sh", "-c", kStubborn})));
    REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
    const auto start = Clock::now();
    ::kill(launched.pid, SIGTERM);
    (void)test::read_to_end(launched.server_out.get());
    const long took = ms_since(start);
    CHECK(test::all_gone(place) == "");
    return took;
  }));
}

TEST_CASE("whoever of a container's launch is killed, nothing stays behind") {
  if (must_skip()) {
    return;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const std::string victim : {"guard", "keeper", "podman", "conmon", "init", "launcher and guard"}) {
    CAPTURE(victim);
    CHECK(in_time([&victim] {
      const test::Place place;
      sandbox::Launched launched = test::start(test::plan_for(spec_in(place, {"sh", "-c", kStubborn})));
      REQUIRE(test::read_until(launched.server_out.get(), "up\n") == "up\n");
      const pid_t keeper = child_of(launched.pid, "");
      const pid_t hit = victim == "guard"    ? launched.pid
                        : victim == "keeper" ? keeper
                        : victim == "podman" || victim == "conmon"
                            ? child_of(launched.pid, victim)
                            : child_of(child_of(launched.pid, "conmon"), "stage");
      if (victim == "launcher and guard") {
        launched.lifeline.reset();
        ::kill(launched.pid, SIGKILL);
      } else {
        REQUIRE(hit > 1);
        ::kill(hit, SIGKILL);
      }
      const auto start = Clock::now();
      if (victim == "conmon") {
        launched.lifeline.reset();  // the server itself does not notice
      }
      (void)test::read_to_end(launched.server_out.get());
      const long took = ms_since(start);
      CHECK(test::all_gone(place) == "");
      return took;
    }));
  }
}

TEST_CASE("a container's launcher that is killed at any moment leaves nothing behind") {
  if (must_skip()) {
    return;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const test::Place place;
  const sandbox::Plan plan = test::plan_for(spec_in(place, {"sh", "-c", kStubborn}));
  // Close together at the beginning, where the folder of the launch is made and nobody else knows of it.
  for (int step = 0; step < 18; ++step) {
    const std::chrono::microseconds delay(step < 10 ? step * 500 : (step - 9) * (step - 9) * 10'000);
    CAPTURE(delay.count());
    const pid_t launcher = ::fork();
    if (launcher == 0) {
      const auto launched = sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE});
      for (;;) {
        ::pause();
      }
    }
    let_pass(delay);
    ::kill(launcher, SIGKILL);
    CHECK(test::all_gone(place) == "");
  }
}

TEST_CASE("podman holds against the probe") {
  if (must_skip()) {
    return;
  }
  const test::Place place;
  const test::Planted planted;
  const sandbox::Plan plan = planted.plan(BackendChoice::podman, [&](sandbox::LaunchSpec& spec) {
    spec.argv = {"sh"};
    spec.image.reference = image()->reference();
    spec.scratch = place.scratch;
    spec.require.clear();
  });
  const test::Look look = test::look(plan, planted);
  CHECK(look.error == "");
  for (const auto& finding : look.findings) {
    CHECK_MESSAGE(finding.verdict != sandbox::boundary::Verdict::breached, finding.id, ": ", finding.attempt, ": ",
                  finding.got);
  }
}
