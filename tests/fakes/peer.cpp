// SPDX-License-Identifier: Apache-2.0
#include "fakes/peer.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace fake {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) die("pipe2");
  }
};

// Empty when it ends meanwhile, of which a stream makes an exception.
std::string command_line(pid_t pid) {
  std::string words;
  const int fd = ::open(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> bytes;
  for (ssize_t n = 0; fd >= 0 && (n = ::read(fd, bytes.data(), bytes.size())) > 0;) {
    words.append(bytes.data(), static_cast<std::size_t>(n));
  }
  if (fd >= 0) ::close(fd);
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

int left(std::int64_t deadline_ms) {
  const std::int64_t rest = deadline_ms - now_ms();
  return rest < 0 ? 0 : static_cast<int>(rest);
}

// False at the end of the stream.
bool read_some(int fd, std::string& into) {
  char buffer[65536];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

std::int64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

Peer::Peer(std::vector<std::string> argv, std::vector<std::string> environment) {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe in;
  const Pipe out;
  const Pipe err;
  std::vector<char*> arguments = pointers(argv);
  std::vector<char*> variables = pointers(environment);
  pid_ = ::fork();
  if (pid_ < 0) die("fork");
  if (pid_ == 0) {
    ::setsid();
    std::signal(SIGPIPE, SIG_DFL);
    ::dup2(in.ends[0], STDIN_FILENO);
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    ::execve(arguments[0], arguments.data(), variables.data());
    std::perror(arguments[0]);
    ::_exit(127);
  }
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) die("pidfd_open");
  ::close(in.ends[0]);
  ::close(out.ends[1]);
  ::close(err.ends[1]);
  in_ = in.ends[1];
  out_ = out.ends[0];
  err_ = err.ends[0];
}

Peer::~Peer() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    wait_exit(kPatienceMs);
  }
  for (int* fd : {&in_, &out_, &err_, &pidfd_}) close_fd(*fd);
}

void Peer::send(const std::string& line) {
  const std::string bytes = line + "\n";
  for (std::size_t done = 0; done < bytes.size() && in_ >= 0;) {
    const ssize_t wrote = ::write(in_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

std::size_t Peer::write_some(std::string_view bytes) {
  constexpr std::size_t kMost = 1'000;  // less than what a pipe takes at once when it can take anything
  pollfd room = {in_, POLLOUT, 0};
  if (bytes.empty() || in_ < 0 || ::poll(&room, 1, 0) <= 0 || (room.revents & POLLOUT) == 0) return 0;
  const ssize_t wrote = ::write(in_, bytes.data(), bytes.size() < kMost ? bytes.size() : kMost);
  return wrote < 0 ? 0 : static_cast<std::size_t>(wrote);
}

void Peer::close_stdin() { close_fd(in_); }

void Peer::signal(int number) { ::kill(pid_, number); }

bool Peer::pump(std::int64_t deadline_ms) {
  if (out_ < 0 && err_ < 0) return false;
  pollfd watched[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (::poll(watched, 2, left(deadline_ms)) <= 0) return errno == EINTR && left(deadline_ms) > 0;
  if (watched[0].revents != 0 && !read_some(out_, partial_)) close_fd(out_);
  if (watched[1].revents != 0 && !read_some(err_, stderr_)) close_fd(err_);
  for (std::size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n')) {
    lines_.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
  return true;
}

std::optional<std::string> Peer::line(int timeout_ms) {
  const std::int64_t deadline = now_ms() + timeout_ms;
  while (lines_.empty()) {
    if (out_ < 0 || !pump(deadline)) return {};
  }
  std::string first = std::move(lines_.front());
  lines_.pop_front();
  return first;
}

Json Peer::answer(const std::string& id, int timeout_ms) {
  const std::int64_t deadline = now_ms() + timeout_ms;
  while (std::optional<std::string> text = line(left(deadline))) {
    Json message = parse(*text);
    if (!message.is(Json::Kind::object)) {
      stray.push_back(*text);
    } else if (message["id"].raw == id && !message["method"]) {
      return message;
    } else {
      others.push_back(std::move(message));
    }
  }
  return {};
}

Json Peer::request(const std::string& id, const std::string& method, const std::string& params, int timeout_ms) {
  send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":)" + quoted(method) + R"(,"params":)" + params + "}");
  return answer(id, timeout_ms);
}

Json Peer::open(const std::string& version) {
  Json reply = request("0", "initialize",
                       R"({"protocolVersion":)" + quoted(version) +
                           R"(,"capabilities":{"roots":{},"sampling":{},"elicitation":{}},)"
                           R"("clientInfo":{"name":"peer","version":"1"}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  return reply;
}

Json Peer::call(const std::string& id, const std::string& tool, const std::string& arguments) {
  return request(id, "tools/call", R"({"name":)" + quoted(tool) + R"(,"arguments":)" + arguments + "}");
}

std::optional<int> Peer::wait_exit(int timeout_ms) {
  const std::int64_t deadline = now_ms() + timeout_ms;
  while (!status_) {
    // Its output is read meanwhile: a full pipe must not keep it from ending.
    pollfd watched[3] = {{pidfd_, POLLIN, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (::poll(watched, 3, left(deadline)) == 0) return {};
    if (watched[1].revents != 0 || watched[2].revents != 0) pump(now_ms());
    int status = 0;
    if (watched[0].revents != 0 && ::waitpid(pid_, &status, 0) == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
  while (pump(now_ms())) {
  }
  return status_;
}

bool Peer::wait_stderr(const std::string& part, int timeout_ms) {
  const std::int64_t deadline = now_ms() + timeout_ms;
  while (stderr_.find(part) == std::string::npos) {
    if (err_ < 0 || !pump(deadline)) return false;
  }
  return true;
}

std::vector<pid_t> processes_marked(const std::string& mark) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) die("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == ::getpid()) continue;
    const std::string words = command_line(pid);
    if (words.find(mark) != std::string::npos) found.push_back(pid);
  }
  ::closedir(proc);
  return found;
}

bool wait_gone(const std::string& mark, int timeout_ms) {
  const std::int64_t deadline = now_ms() + timeout_ms;
  for (;;) {
    const std::vector<pid_t> there = processes_marked(mark);
    if (there.empty()) return true;
    if (now_ms() >= deadline) return false;
    // The end of one of them is the event that is waited for.
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, there.front(), 0));
    if (fd < 0) continue;
    pollfd watched = {fd, POLLIN, 0};
    ::poll(&watched, 1, left(deadline));
    ::close(fd);
  }
}

std::string text_of(const Json& answer) {
  const Json& content = answer["result"]["content"];
  return content.items.empty() ? std::string() : content.items.front()["text"].text;
}

}  // namespace fake
