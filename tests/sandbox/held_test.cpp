// SPDX-License-Identifier: Apache-2.0
// A launch that is held: everything is set up, and the server is executed only when the launcher says so.
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>

#include "base/text.hpp"
#include "sandboxed.hpp"

using namespace cordon;
using sandbox::BackendChoice;

namespace {

sandbox::Launched start_held(const std::string& script) {
  const sandbox::Plan plan = test::plan_for(test::spec_for({"/bin/sh", "-c", script}, BackendChoice::native));
  auto launched = sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE, .held = true});
  if (!launched) {
    throw std::runtime_error(launched.error().to_string());
  }
  return std::move(*launched);
}

std::string children_of(const std::string& pid) {
  std::string list = test::read_file(text::cat("/proc/", pid, "/task/", pid, "/children"));
  while (list.ends_with(' ')) {
    list.pop_back();
  }
  return list;
}

// Until the last process of the three, which is to become the server, waits with all its steps done: the filter of
// system calls is the last but one. Gives it, as seen from here.
std::string wait_until_it_waits(pid_t guard) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string init = children_of(std::to_string(guard));
    const std::string server = init.empty() || init.find(' ') != std::string::npos ? std::string() : children_of(init);
    if (!server.empty() &&
        test::read_file(text::cat("/proc/", server, "/status")).find("Seccomp:\t2") != std::string::npos &&
        test::read_file(text::cat("/proc/", server, "/stat")).find(") S ") != std::string::npos) {
      return server;
    }
    ::poll(nullptr, 0, 1);
  }
  throw std::runtime_error("it does not get there");
}

bool gone(const std::string& pid) {
  for (int i = 0; i < 10'000 && ::kill(std::stoi(pid), 0) == 0; ++i) {
    ::poll(nullptr, 0, 1);
  }
  return ::kill(std::stoi(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace

TEST_CASE("a held launch does all its steps and executes nothing before it is let go") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::Launched held =
      start_held("echo up; ls -l /proc/self/fd | grep -c socket; grep -c 'Seccomp:.2' /proc/self/status; cat");
  const std::string server = wait_until_it_waits(held.pid);
  CHECK(test::silent(held.status.get(), 20));
  CHECK(test::silent(held.server_out.get(), 0));
  CHECK(test::read_file(text::cat("/proc/", server, "/cmdline")).starts_with("mcp-cordon-stage"));
  REQUIRE(sandbox::release(held.go));
  held.go.reset();
  CHECK(test::read_to_end(held.status.get()) == "");
  CHECK(test::read_until(held.server_out.get(), "0\n1\n") == "up\n0\n1\n");
  REQUIRE(::write(held.server_in.get(), "x\n", 2) == 2);
  held.server_in.reset();
  CHECK(test::read_to_end(held.server_out.get()) == "x\n");
  CHECK(test::wait_for(held.pid) == 0);
}

TEST_CASE("a held launch that is not let go executes nothing and leaves nothing") {
  if (test::must_skip(BackendChoice::native)) {
    return;
  }
  sandbox::Launched held = start_held("echo up");
  const std::string server = wait_until_it_waits(held.pid);
  SUBCASE("its way to be let go is closed") {
    held.go.reset();
    CHECK(test::wait_for(held.pid) == 125);
    CHECK(test::read_to_end(held.status.get()).find("ended before the server was started") != std::string::npos);
  }
  SUBCASE("it is told something else") {
    REQUIRE(::write(held.go.get(), "x", 1) == 1);
    CHECK(test::wait_for(held.pid) == 125);
  }
  SUBCASE("its lifeline ends") {
    held.lifeline.reset();
    CHECK(test::wait_for(held.pid) != 0);
  }
  SUBCASE("its guard is killed") {
    ::kill(held.pid, SIGKILL);
    CHECK(test::wait_for(held.pid) == 128 + SIGKILL);
  }
  CHECK(gone(server));
  CHECK(test::read_to_end(held.server_out.get()) == "");
  // No signal, either, where nobody hears it any more.
  CHECK_FALSE((held.go && sandbox::release(held.go)));
}

TEST_CASE("a launch that others stand in is not held") {
  for (const BackendChoice backend : {BackendChoice::bubblewrap, BackendChoice::landlock}) {
    if (test::must_skip(backend)) {
      continue;
    }
    CAPTURE(backend);
    const sandbox::Plan plan = test::plan_for(test::spec_for({"/bin/true"}, backend));
    CHECK_FALSE(sandbox::can_be_held(plan));
    CHECK_FALSE(sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE, .held = true}));
  }
}
