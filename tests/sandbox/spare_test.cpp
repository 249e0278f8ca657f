// SPDX-License-Identifier: Apache-2.0
// A launch that is kept ready: it does nothing until it is told to, and then all that another does.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>

#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

sandbox::Launched start_spare(BackendChoice backend, const std::string& script) {
  const sandbox::Plan plan = test::plan_for(test::spec_for({"/bin/sh", "-c", script}, backend));
  auto launched = sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE, .spare = true});
  if (!launched) {
    throw std::runtime_error(launched.error().to_string());
  }
  return std::move(*launched);
}

// Until it reads the lifeline, and no signal can end it any more.
void wait_until_it_waits(pid_t pid) {
  const std::string line = "/proc/" + std::to_string(pid) + "/cmdline";
  for (int i = 0; i < 10'000; ++i) {
    if (test::read_file(line).find("spare") != std::string::npos &&
        test::read_file("/proc/" + std::to_string(pid) + "/stat").find(") S ") != std::string::npos) {
      return;
    }
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace

TEST_CASE("a spare launch does nothing until it is begun, and is held like any other then") {
  for (const BackendChoice backend : {BackendChoice::native, BackendChoice::bubblewrap, BackendChoice::landlock}) {
    if (test::must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    sandbox::Launched spare = start_spare(backend, "echo up; grep -c 'Seccomp:.2' /proc/self/status; cat");
    wait_until_it_waits(spare.pid);
    CHECK(test::silent(spare.status.get(), 20));
    CHECK(test::silent(spare.server_out.get(), 0));
    REQUIRE(sandbox::begin(spare.lifeline));
    CHECK(test::read_to_end(spare.status.get()) == "");  // the server was executed, so attest found all in place
    CHECK(test::read_until(spare.server_out.get(), "up\n") == "up\n");
    REQUIRE(::write(spare.server_in.get(), "x\n", 2) == 2);
    spare.server_in.reset();
    CHECK(test::read_to_end(spare.server_out.get()).ends_with("x\n"));
    CHECK(test::wait_for(spare.pid) == 0);
  }
}

TEST_CASE("a spare launch ends without a trace when its lifeline does") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::Launched spare = start_spare(BackendChoice::native, "echo up");
  spare.lifeline.reset();
  CHECK(test::wait_for(spare.pid) == 0);
  CHECK(test::read_to_end(spare.server_out.get()) == "");
  CHECK(test::read_to_end(spare.status.get()) == "");
}

TEST_CASE("only the one word begins a spare launch") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::Launched spare = start_spare(BackendChoice::native, "echo up");
  REQUIRE(::write(spare.lifeline.get(), "x", 1) == 1);
  CHECK(test::wait_for(spare.pid) == 0);
  CHECK(test::read_to_end(spare.server_out.get()) == "");
}

TEST_CASE("a spare launch that was killed cannot be begun, and that is an error and no signal") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  sandbox::Launched spare = start_spare(BackendChoice::native, "echo up");
  ::kill(spare.pid, SIGKILL);
  CHECK(test::wait_for(spare.pid) == 128 + SIGKILL);
  CHECK_FALSE(sandbox::begin(spare.lifeline));
  ::signal(SIGPIPE, before);
}

TEST_CASE("a signal that came while it waited is not handed on to the server") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::Launched spare = start_spare(BackendChoice::native, "echo up; cat");
  wait_until_it_waits(spare.pid);
  ::kill(spare.pid, SIGTERM);
  REQUIRE(sandbox::begin(spare.lifeline));
  CHECK(test::read_until(spare.server_out.get(), "up\n") == "up\n");
  spare.server_in.reset();
  CHECK(test::wait_for(spare.pid) == 0);
}
