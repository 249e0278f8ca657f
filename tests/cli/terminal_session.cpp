// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_session.hpp"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

namespace {

constexpr int kPatienceMs = 10'000;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) {
    out.push_back(const_cast<char*>(word.c_str()));
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace

TerminalSession::TerminalSession(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  std::vector<char*> words = pointers(argv);
  std::vector<char*> variables = pointers(environment);
  winsize size{.ws_row = 25, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    ::execve(words[0], words.data(), variables.data());
    ::_exit(127);
  }
  if (pid_ < 0) {
    std::abort();
  }
}

TerminalSession::~TerminalSession() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(terminal_);
}

bool TerminalSession::pump(int timeout_ms) {
  pollfd waiting{terminal_, POLLIN, 0};
  if (::poll(&waiting, 1, timeout_ms) <= 0) {
    return false;
  }
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(terminal_, buffer.data(), buffer.size());
  if (got <= 0) {  // EIO: nobody holds the other side any more
    return false;
  }
  shown_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

bool TerminalSession::wait_for(const std::string& part) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (true) {
    if (const std::size_t at = shown_.find(part, seen_); at != std::string::npos) {
      between_ = shown_.substr(seen_, at - seen_);
      seen_ = at + part.size();
      return true;
    }
    if (std::chrono::steady_clock::now() >= deadline || !pump(kPatienceMs)) {
      return false;
    }
  }
}

void TerminalSession::type(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(terminal_, text.data(), text.size());
}

int TerminalSession::wait_exit() {
  while (pump(kPatienceMs)) {
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
