// SPDX-License-Identifier: Apache-2.0
#include "blows.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/text.hpp"
#include "sandboxed.hpp"

namespace cordon::test {
namespace {

using Clock = std::chrono::steady_clock;

// The moment of the blow, not a wait for something.
void let_pass(std::chrono::microseconds delay) {
  const timespec wait = {.tv_sec = 0, .tv_nsec = delay.count() * 1000};
  ::nanosleep(&wait, nullptr);
}

}  // namespace

std::string all_gone(std::string_view what, std::chrono::microseconds delay) {
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::seconds(3)) {
    const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) {
      return {};
    }
    if (ended == 0) {
      ::poll(nullptr, 0, 1);
    }
  }
  return text::cat("something is left after a blow to ", what, " at ", delay.count(), " us");
}

std::string kill_launcher(const sandbox::Plan& plan, std::chrono::microseconds delay) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const auto launched = sandbox::launch(plan, {.stage_path = CORDON_TEST_STAGE});
    for (;;) {
      ::pause();
    }
  }
  let_pass(delay);
  ::kill(launcher, SIGKILL);
  return all_gone("the launcher", delay);
}

std::string kill_guard(const sandbox::Plan& plan, std::chrono::microseconds delay) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sandbox::Launched launched = start(plan);
  let_pass(delay);
  ::kill(launched.pid, SIGKILL);
  return all_gone("the guard", delay);
}

}  // namespace cordon::test
