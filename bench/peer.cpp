// SPDX-License-Identifier: Apache-2.0
#include "peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/text.hpp"

namespace cordon::bench {
namespace {

constexpr std::size_t kChunk = std::size_t{256} * 1024;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) {
    out.push_back(const_cast<char*>(word.c_str()));
  }
  out.push_back(nullptr);
  return out;
}

pid_t start(const Command& command, int in, int out, const std::string& log) {
  const UniqueFd err(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::vector<char*> argv = pointers(command.argv);
  const std::vector<char*> environment = pointers(command.environment);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err.get(), STDERR_FILENO);
    execve(argv[0], argv.data(), environment.data());
    _exit(127);
  }
  if (pid < 0) {
    die("fork failed");
  }
  return pid;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void die(std::string_view why) {
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(why.size()), why.data());
  std::exit(1);
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Peer::Peer(const Command& command, const std::string& log) : log_(log) {
  std::array<int, 2> to_peer{};
  std::array<int, 2> from_peer{};
  if (pipe2(to_peer.data(), O_CLOEXEC) != 0 || pipe2(from_peer.data(), O_CLOEXEC) != 0) {
    die("pipe failed");
  }
  const UniqueFd their_in(to_peer[0]);
  const UniqueFd their_out(from_peer[1]);
  in_ = UniqueFd(to_peer[1]);
  out_ = UniqueFd(from_peer[0]);
  pid_ = start(command, their_in.get(), their_out.get(), log);
}

Peer::~Peer() {
  if (pid_ > 0) {
    in_.reset();
    out_.reset();
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
}

void Peer::send(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(in_.get(), line.data(), line.size());
    if (written < 0 && errno != EINTR) {
      die(text::cat("the peer is gone; its stderr:\n", file_text(log_)));
    }
    line.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

std::string_view Peer::read_line() {
  while (true) {
    const void* end = std::memchr(buffer_.data() + scanned_, '\n', buffer_.size() - scanned_);
    if (end != nullptr) {
      const std::size_t length = static_cast<std::size_t>(static_cast<const char*>(end) - buffer_.data()) - begin_;
      const std::string_view line(buffer_.data() + begin_, length);
      begin_ += length + 1;
      scanned_ = begin_;
      return line;
    }
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      begin_ = 0;
    }
    scanned_ = buffer_.size();
    buffer_.resize(scanned_ + kChunk);
    const ssize_t got = read(out_.get(), buffer_.data() + scanned_, kChunk);
    buffer_.resize(scanned_ + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      die(text::cat("the peer ended; its stderr:\n", file_text(log_)));
    }
  }
}

std::string_view Peer::reply(std::int64_t id) {
  const std::string wanted = text::cat("\"id\":", id);
  while (true) {
    const std::string_view line = read_line();
    // The id stands near the start or near the end, never behind 200 bytes of both.
    const std::size_t edge = 200;
    if (line.substr(0, edge).find(wanted) != std::string_view::npos ||
        (line.size() > edge && line.substr(line.size() - edge).find(wanted) != std::string_view::npos)) {
      return line;
    }
  }
}

std::string_view Peer::call(std::string_view members) {
  const std::int64_t id = next_id();
  send(text::cat("{\"jsonrpc\":\"2.0\",\"id\":", id,
                 ",\"method\":\"tools/call\",\"params\":{\"name\":\"tool_0\",\"arguments\":{", members, "}}}\n"));
  const std::string_view line = reply(id);
  if (line.find("\"isError\"") != std::string_view::npos || line.find("\"result\"") == std::string_view::npos) {
    die(text::cat("the call was refused: ", line.substr(0, 600)));
  }
  return line;
}

std::size_t Peer::open() {
  const std::int64_t hello = next_id();
  send(text::cat("{\"jsonrpc\":\"2.0\",\"id\":", hello,
                 ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n"));
  const std::string_view opened = reply(hello);
  if (opened.find("\"result\"") == std::string_view::npos) {
    die(text::cat("initialize was refused: ", opened.substr(0, 600)));
  }
  send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  const std::int64_t list = next_id();
  send(text::cat("{\"jsonrpc\":\"2.0\",\"id\":", list, ",\"method\":\"tools/list\"}\n"));
  return reply(list).size();
}

std::size_t Peer::send_until_stalled(const std::string& line, std::size_t at_most, int patience_ms) {
  fcntl(in_.get(), F_SETFL, O_NONBLOCK);
  std::size_t taken = 0;
  std::string current;
  pollfd writable{in_.get(), POLLOUT, 0};
  while (taken < at_most && poll(&writable, 1, patience_ms) > 0) {
    if (current.empty()) {
      current = line;
      current.replace(current.find("ID"), 2, std::to_string(next_id()));
    }
    const ssize_t written = write(in_.get(), current.data(), current.size());
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      break;
    }
    const std::size_t count = written < 0 ? 0 : static_cast<std::size_t>(written);
    taken += count;
    current.erase(0, count);
  }
  return taken;
}

int Peer::finish() {
  in_.reset();
  std::string rest(kChunk, '\0');
  while (read(out_.get(), rest.data(), rest.size()) > 0) {
  }
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return status;
}

int run(const Command& command, const std::string& output, const std::string& log) {
  const UniqueFd in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd out(open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  int status = 0;
  waitpid(start(command, in.get(), out.get(), log), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace cordon::bench
