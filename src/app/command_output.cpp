// SPDX-License-Identifier: Apache-2.0
#include "app/command_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

using Clock = std::chrono::steady_clock;

// posix_spawn's two descriptions of the child, released on every path.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& one : texts) {
    out.push_back(const_cast<char*>(one.c_str()));  // posix_spawn's signature; it does not write
  }
  out.push_back(nullptr);
  return out;
}

Result<pid_t> spawn(const CommandRequest& request, int output) {
  SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, 0, request.input.empty() ? "/dev/null" : request.input.c_str(),
                                     O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, output, 1);
  ::posix_spawn_file_actions_addopen(&settings.actions, 2, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, 3);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  // We may ignore SIGPIPE; the program must not inherit that.
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &pipe);
  ::posix_spawnattr_setflags(&settings.attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv = pointers(request.argv);
  std::vector<char*> environment = pointers(request.environment);
  pid_t child = -1;
  const std::string& program = request.program.empty() ? request.argv[0] : request.program;
  const int error =
      ::posix_spawn(&child, program.c_str(), &settings.actions, &settings.attributes, argv.data(), environment.data());
  if (error != 0) {
    return fail(Errc::launch_failed, errno_text("cannot start the program", error), request.argv[0]);
  }
  return child;
}

int left_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

enum class ReadEnd : std::uint8_t { complete, late, too_long, broken };

ReadEnd read_all(int fd, Clock::time_point deadline, std::size_t max_bytes, std::string& out) {
  std::array<char, 4096> buffer{};
  while (true) {
    const int left = left_until(deadline);
    if (left == 0) {
      return ReadEnd::late;
    }
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, left);
    if (ready == 0 || (ready < 0 && errno == EINTR)) {
      continue;
    }
    const ssize_t got = ready < 0 ? -1 : ::read(fd, buffer.data(), buffer.size());
    if (got < 0) {
      return ReadEnd::broken;
    }
    if (got == 0) {
      return ReadEnd::complete;
    }
    out.append(buffer.data(), static_cast<std::size_t>(got));
    if (out.size() > max_bytes) {
      return ReadEnd::too_long;
    }
  }
}

// A program may close its output and stay; that must not hold us up either.
ReadEnd wait_for_end(pid_t child, Clock::time_point deadline) {
  // Not through glibc 2.36's header: it declares the function without C linkage.
  const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!handle) {
    return ReadEnd::broken;
  }
  while (true) {
    const int left = left_until(deadline);
    pollfd waiting{handle.get(), POLLIN, 0};
    if (left == 0 || ::poll(&waiting, 1, left) == 0) {
      return ReadEnd::late;
    }
    if ((waiting.revents & POLLIN) != 0) {
      return ReadEnd::complete;
    }
  }
}

int reap(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::string> command_output(const CommandRequest& request) {
  CORDON_ASSERT(!request.argv.empty());
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Errc::launch_failed, errno_text("pipe2", errno), request.argv[0]);
  }
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const Result<pid_t> child = spawn(request, writer.get());
  if (!child) {
    return std::unexpected(child.error());
  }
  writer.reset();
  std::string out;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(request.timeout_ms);
  ReadEnd end = read_all(reader.get(), deadline, request.max_bytes, out);
  if (end == ReadEnd::complete) {
    end = wait_for_end(*child, deadline);
  }
  if (end != ReadEnd::complete) {
    ::kill(-*child, SIGKILL);
  }
  const int status = reap(*child);
  switch (end) {
    case ReadEnd::late:
      return fail(Errc::timed_out, text::cat("no answer within ", request.timeout_ms, " ms"), request.argv[0]);
    case ReadEnd::too_long:
      return fail(Errc::launch_failed, text::cat("printed more than ", request.max_bytes, " bytes"), request.argv[0]);
    case ReadEnd::broken:
      return fail(Errc::launch_failed, "its output could not be read", request.argv[0]);
    case ReadEnd::complete:
      break;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(Errc::launch_failed,
                WIFEXITED(status) ? text::cat("ended with status ", WEXITSTATUS(status))
                                  : text::cat("was ended by signal ", WTERMSIG(status)),
                request.argv[0]);
  }
  return out;
}

std::string system_program(const std::string& name) {
  if (name.starts_with('/')) {
    return name;
  }
  if (name.find('/') != std::string::npos) {
    return {};
  }
  for (const std::string_view folder :
       {"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"}) {
    std::string path = text::cat(folder, '/', name);
    if (::access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return {};
}

}  // namespace cordon::app
