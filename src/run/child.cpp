// SPDX-License-Identifier: Apache-2.0
#include "run/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace cordon::run {
namespace {

constexpr std::size_t kMaxStatusBytes = 4096;
constexpr std::int64_t kOrphanPauseMs = 2;

gate::ExitReport report_of(int status) {
  return WIFSIGNALED(status) ? gate::ExitReport{true, WTERMSIG(status)} : gate::ExitReport{false, WEXITSTATUS(status)};
}

constexpr std::size_t kMaxChildrenBytes = 65'536;

std::vector<pid_t> listed_pids(int children_fd) {
  std::string list(kMaxChildrenBytes, '\0');
  const ssize_t length = ::pread(children_fd, list.data(), list.size(), 0);
  list.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  std::vector<pid_t> pids;
  for (const std::string_view word : text::split(list, ' ')) {
    pid_t pid = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), pid).ec == std::errc() && pid > 0) {
      pids.push_back(pid);
    }
  }
  return pids;
}

}  // namespace

Status wait_until_started(int status_fd, std::int64_t timeout_ms) {
  const Instant until = monotonic_now() + timeout_ms;
  std::string said;
  for (;;) {
    const std::int64_t left = until - monotonic_now();
    pollfd entry{status_fd, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) : 0;
    if (left <= 0) {
      return fail(Errc::launch_failed, text::cat("the sandbox was not set up within ", timeout_ms, " ms"), "launch");
    }
    if (ready <= 0) {
      continue;
    }
    std::array<char, 512> buffer;
    const ssize_t count = ::read(status_fd, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (count < 0) {
      return fail(Errc::launch_failed, errno_text("read", errno), "launch");
    }
    if (count == 0) {
      break;
    }
    said.append(buffer.data(), std::min(static_cast<std::size_t>(count), kMaxStatusBytes - said.size()));
  }
  return start_outcome(said);
}

Status start_outcome(std::string_view said) {
  while (said.ends_with('\n')) {
    said.remove_suffix(1);
  }
  return said.empty() ? Status() : fail(Errc::launch_failed, text::printable(said), "launch");
}

std::vector<std::string> read_notes(int notes_fd) {
  std::array<char, 4096> buffer;
  pollfd entry{notes_fd, POLLIN, 0};
  // Written before the child's exit, and short: one read, and never a wait.
  const ssize_t count = ::poll(&entry, 1, 0) > 0 ? ::read(notes_fd, buffer.data(), buffer.size()) : 0;
  std::vector<std::string> lines;
  for (const std::string_view line :
       text::split({buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0}, '\n')) {
    if (!line.empty()) {
      lines.push_back(text::printable(line));
    }
  }
  return lines;
}

Child::Child(Loop& loop, pid_t pid, UniqueFd lifeline, std::function<void(gate::ExitReport)> exited)
    : pid_(pid),
      lifeline_(std::move(lifeline)),
      // Opened now: later we may have given up opening files. Needs CONFIG_PROC_CHILDREN, which distributions have;
      // without it orphans of `none` outlive us.
      children_(::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC)),
      exited_(std::move(exited)),
      watch_(loop, SIGCHLD, [this](int) { reap(); }) {
  // A process whose parent died becomes our child, so that nothing the server started can outlive us unnoticed.
  int was = 0;
  was_subreaper_ = ::prctl(PR_GET_CHILD_SUBREAPER, &was) == 0 && was != 0;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Child::~Child() {
  if (!was_subreaper_) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
}

void Child::start() { reap(); }

void Child::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == pid_ && running_) {
      running_ = false;
      exited_(report_of(status));
    } else if (pid == spare_) {
      spare_ = -1;
    }
  }
}

bool Child::replace(UniqueFd lifeline) {
  if (running_ || spare_ < 0) {
    return false;
  }
  pid_ = std::exchange(spare_, -1);
  lifeline_ = std::move(lifeline);
  running_ = true;
  return true;
}

void Child::send(int number) {
  if (!running_) {
    return;  // the number may already be somebody else's
  }
  if (::getpgid(pid_) == pid_) {
    ::kill(-pid_, number);
  }
  ::kill(pid_, number);
}

void Child::terminate() { send(SIGTERM); }

void Child::kill() {
  lifeline_.reset();
  send(SIGKILL);
}

void Child::end_orphans(std::int64_t timeout_ms) {
  const Instant until = monotonic_now() + timeout_ms;
  for (;;) {
    for (const pid_t pid : listed_pids(children_.get())) {
      ::kill(pid, SIGKILL);
    }
    pid_t reaped = 0;
    while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 || monotonic_now() >= until) {
      return;  // no children left, or one that even SIGKILL does not end in time
    }
    ::poll(nullptr, 0, static_cast<int>(kOrphanPauseMs));
  }
}

}  // namespace cordon::run
