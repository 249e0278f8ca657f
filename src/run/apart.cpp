// SPDX-License-Identifier: Apache-2.0
#include "run/apart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace cordon::run {
namespace {

constexpr char kDone = 'D';
constexpr char kFailed = 'F';
constexpr int kWordFd = STDERR_FILENO + 1;

std::unexpected<Error> broken(std::string_view what, int error_number) {
  return fail(Errc::internal, errno_text(what, error_number), "own process for the server");
}

// "F", the code, then detail, where and remedy, each ended by a zero byte, which none of them holds.
std::string encoded(const Result<std::string>& word) {
  if (word) {
    return text::cat(kDone, *word);
  }
  std::string out = {kFailed, static_cast<char>(word.error().code)};
  for (const std::string* part : {&word.error().detail, &word.error().where, &word.error().remedy}) {
    out += text::cat(std::string_view(*part).substr(0, part->find('\0')), std::string_view("\0", 1));
  }
  return out;
}

Result<std::string> decoded(std::string_view word) {
  const auto nothing = [] { return fail(Errc::internal, "it ended without a result", "own process for the server"); };
  if (!word.empty() && word.front() == kDone) {
    return std::string(word.substr(1));
  }
  if (word.size() < 2 || word.front() != kFailed) {
    return nothing();
  }
  const auto code = static_cast<std::uint8_t>(word[1]);
  const std::vector<std::string_view> parts = text::split(word.substr(2), '\0');
  if (code < static_cast<std::uint8_t>(kFirstErrc) || code > static_cast<std::uint8_t>(kLastErrc) || parts.size() < 3) {
    return nothing();
  }
  // It may be in the server's hands: nothing of it reaches a terminal as it is.
  return fail(static_cast<Errc>(code), text::printable(parts[0]), text::printable(parts[1]), text::printable(parts[2]));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

// Standard error and one pipe. Not the terminal of a review, nor what else the command has open.
bool keep_only(int word_fd) {
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  return nothing && ::dup2(nothing.get(), STDIN_FILENO) >= 0 && ::dup2(nothing.get(), STDOUT_FILENO) >= 0 &&
         (word_fd == kWordFd || ::dup2(word_fd, kWordFd) == kWordFd) && ::fcntl(kWordFd, F_SETFD, FD_CLOEXEC) == 0 &&
         ::close_range(kWordFd + 1, ~0U, 0) == 0;
}

[[noreturn]] void be_apart(const std::function<Result<std::string>()>& work, int word_fd, const sigset_t& mask,
                           pid_t parent) {
  // A group of its own, so that a Ctrl-C comes once: from the parent. To a terminal that wants it (stty tostop) it is
  // in the background then, and would be stopped at its first line.
  ::signal(SIGTTOU, SIG_IGN);
  const bool ready = ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent && ::setpgid(0, 0) == 0 &&
                     keep_only(word_fd) && ::sigprocmask(SIG_SETMASK, &mask, nullptr) == 0;
  ::_exit(ready && write_all(kWordFd, encoded(work())) ? 0 : 1);
}

// Reads until the other end is closed; signals that arrive meanwhile go to the child.
Result<std::string> listen(int word_fd, int signals, pid_t child, std::size_t max_bytes) {
  std::string word;
  std::array<char, 65'536> buffer = {};
  for (;;) {
    std::array<pollfd, 2> watched = {{{word_fd, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      return broken("poll", errno);
    }
    signalfd_siginfo info = {};
    if (watched[1].revents != 0 && ::read(signals, &info, sizeof info) == sizeof info) {
      ::kill(child, static_cast<int>(info.ssi_signo));
    }
    if (watched[0].revents == 0) {
      continue;
    }
    const ssize_t got = ::read(word_fd, buffer.data(), buffer.size());
    if (got < 0 && errno != EINTR) {
      return broken("read", errno);
    }
    if (got == 0) {
      return word;
    }
    word.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (word.size() > max_bytes) {
      return fail(Errc::message_too_large, text::cat("it gave more than ", max_bytes, " bytes"),
                  "own process for the server");
    }
  }
}

// Of the signals that end us: those that are not ignored, as they may be under nohup.
sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction now = {};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      ::sigaddset(&set, number);
    }
  }
  return set;
}

}  // namespace

Result<std::string> apart(const std::function<Result<std::string>()>& work, std::size_t max_bytes) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return broken("pipe2", errno);
  }
  const UniqueFd word_in(ends[0]);
  UniqueFd word_out(ends[1]);
  const sigset_t ending = ending_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &ending, &before);
  const UniqueFd signals(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  const pid_t self = ::getpid();
  const pid_t child = signals ? ::fork() : -1;
  if (child == 0) {
    be_apart(work, word_out.get(), before, self);
  }
  if (child < 0) {
    const int error_number = errno;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return broken("fork", error_number);
  }
  word_out.reset();
  Result<std::string> word = listen(word_in.get(), signals.get(), child, max_bytes);
  if (!word) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (!word) {
    return word;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(Errc::internal, text::cat("it ended with wait status ", status), "own process for the server");
  }
  return decoded(*word);
}

}  // namespace cordon::run
