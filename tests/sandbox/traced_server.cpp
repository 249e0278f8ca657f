// SPDX-License-Identifier: Apache-2.0
// A server that touches what it is told to, in the way it is told to: for the tests of the tracer. Static, like the
// probe. Each argument is "way:path"; it prints one line for each, "way path errno".
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

int outcome_of(long result) {
  const int error_number = result < 0 ? errno : 0;
  if (result > STDERR_FILENO) {
    ::close(static_cast<int>(result));
  }
  return error_number;
}

long connect_to(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error_number = errno;
  ::close(fd);
  errno = error_number;
  return result;
}

long touch(std::string_view way, const std::string& path);

void* touch_in_thread(void* path) {
  touch("read", *static_cast<const std::string*>(path));
  return nullptr;
}

// Ten threads, each with a file of its own, all at once.
long in_threads(const std::string& path) {
  std::array<std::string, 10> paths;
  std::array<pthread_t, paths.size()> threads = {};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    paths[i] = path + std::to_string(i);
    if (::pthread_create(&threads[i], nullptr, touch_in_thread, &paths[i]) != 0) {
      return -1;
    }
  }
  for (const pthread_t thread : threads) {
    ::pthread_join(thread, nullptr);
  }
  return 0;
}

long in_child(const std::string& path, bool vfork) {
  const pid_t child = vfork ? ::vfork() : ::fork();
  if (child == 0) {
    if (vfork) {
      ::execl(path.c_str(), path.c_str(), "--version", nullptr);
      ::_exit(127);
    }
    touch("read", path);
    ::_exit(0);
  }
  return ::waitpid(child, nullptr, 0) == child ? 0 : -1;
}

// Executes from a thread that is not the first: it goes on under the first one's number.
void* execute_here(void* path) {
  const auto* text = static_cast<const std::string*>(path);
  const std::string next = "read|" + *text;
  ::execl("/proc/self/exe", "again", next.c_str(), nullptr);
  return nullptr;
}

long execute_in_thread(std::string path) {
  pthread_t thread = {};
  ::pthread_create(&thread, nullptr, execute_here, &path);
  ::pthread_join(thread, nullptr);
  return -1;
}

// A child that the tracer is not told of.
long untraced(const std::string& path) {
  constexpr unsigned long kUntraced = 0x00800000;  // CLONE_UNTRACED
  const long child = ::syscall(SYS_clone, kUntraced | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::_exit(outcome_of(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  }
  int status = 0;
  ::waitpid(static_cast<pid_t>(child), &status, 0);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return errno == 0 ? 0 : -1;
}

// Stopped by a signal, until a child tells it to go on.
long stop_and_go(const std::string& path) {
  std::array<int, 2> pipe = {-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return -1;
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[1]);
    pollfd stopped = {pipe[0], POLLIN, 0};
    while (::poll(&stopped, 1, 1) == 0) {
      ::kill(parent, SIGCONT);
    }
    ::_exit(0);
  }
  ::close(pipe[0]);
  ::raise(SIGSTOP);
  ::close(pipe[1]);
  ::waitpid(child, nullptr, 0);
  return touch("read", path);
}

long flood(const std::string& path) {
  for (int i = 0; i < 20'000; ++i) {
    (void)!::access((path + std::to_string(i)).c_str(), F_OK);
  }
  return 0;
}

long touch(std::string_view way, const std::string& path) {
  const char* name = path.c_str();
  if (way == "read") {
    const int fd = ::open(name, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -1 : (::close(fd), 0);
  }
  if (way == "list") {
    return ::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  if (way == "write") {
    return ::open(name, O_WRONLY | O_CLOEXEC);
  }
  if (way == "create") {
    return ::open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  }
  struct stat info = {};
  return way == "look"     ? ::stat(name, &info)
         : way == "mkdir"  ? ::mkdir(name, 0755)
         : way == "move"   ? ::rename(name, (path + ".moved").c_str())
         : way == "go"     ? ::chdir(name)
         : way == "dial"   ? connect_to(path)
         : way == "fork"   ? in_child(path, false)
         : way == "run"    ? in_child(path, true)
         : way == "thread" ? in_threads(path)
         : way == "again"  ? execute_in_thread(path)
         : way == "hide"   ? untraced(path)
         : way == "stop"   ? stop_and_go(path)
         : way == "flood"  ? flood(path)
                           : (::abort(), -1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  for (const std::string_view word : words) {
    const std::size_t colon = word.find('|');
    if (word == "wait") {
      std::puts("waiting");
      std::fflush(stdout);
      for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) > 0;) {
      }
      continue;
    }
    const std::string path(word.substr(colon + 1));
    const long result = touch(word.substr(0, colon), path);
    std::printf("%.*s %s %d\n", static_cast<int>(colon), word.data(), path.c_str(), outcome_of(result));
    std::fflush(stdout);
  }
  return 0;
}
