// SPDX-License-Identifier: Apache-2.0
// A stage that is kept ready for a second launch, because the launcher cannot start anything any more. Until it is told
// to, it is a process that waits for one byte: nothing of the plan is read, and no step is done.
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

// Those of the terminal's group were meant for the launcher, and would be handed on to the server later.
void forget_pending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&set, number);
  }
  constexpr timespec kNow = {};
  while (::sigtimedwait(&set, nullptr, &kNow) > 0) {
  }
}

}  // namespace

void wait_until_needed(const Stage& stage) {
  // The plan that it holds has the values of secrets.
  const bool dumpable = ::prctl(PR_GET_DUMPABLE) == 1;
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || !die_with_parent() || kernel::close_range(kFirstFreeFd, ~0U, 0) != 0) {
    ::_exit(kFailureStatus);
  }
  char word = 0;
  ssize_t length = 0;
  while ((length = ::read(stage.lifeline.get(), &word, 1)) < 0 && errno == EINTR) {
  }
  if (length != 1 || word != kStartWord) {
    ::_exit(0);  // it is not needed
  }
  forget_pending_signals();
  if (dumpable && ::prctl(PR_SET_DUMPABLE, 1) != 0) {
    ::_exit(kFailureStatus);
  }
}

}  // namespace cordon::sandbox::stage
