// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) {
    list.push_back(const_cast<char*>(text.c_str()));
  }
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void exec_tool(const ToolRun& run, int output) {
  const std::vector<char*> arguments = pointers(run.argv);
  const std::vector<char*> environment = pointers(run.environment);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if ((run.as_server_of == nullptr || become_server_uid(*run.as_server_of) == 0) && ::dup2(null, STDIN_FILENO) >= 0 &&
      ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(run.errors ? output : null, STDERR_FILENO) >= 0) {
    ::execve(arguments.front(), arguments.data(), environment.data());
  }
  ::_exit(127);
}

std::int64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

ToolOutput run_tool(const std::vector<std::string>& argv, const HostFacts& facts,
                    const std::vector<std::string>& environment) {
  return run_tool({.argv = argv, .environment = environment, .as_server_of = &facts});
}

ToolOutput run_tool(const ToolRun& run) {
  constexpr std::size_t kMost = 65536;
  const std::int64_t until = now_ms() + run.patience_ms;
  ToolOutput result;
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    result.error_number = errno;
    return result;
  }
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    result.error_number = errno;
    return result;
  }
  if (child == 0) {
    exec_tool(run, out.get());
  }
  out.reset();
  std::array<char, 4096> buffer = {};
  for (;;) {
    pollfd one = {.fd = in.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(until - now_ms(), 0)));
    const ssize_t length = ready > 0 ? ::read(in.get(), buffer.data(), buffer.size()) : 0;
    if (length <= 0 || result.text.size() > kMost) {
      if (ready == 0 || length > 0) {
        result.timed_out = ready == 0;
        ::kill(child, SIGKILL);
      }
      break;
    }
    result.text.append(buffer.data(), static_cast<std::size_t>(length));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

namespace {

constexpr std::array kNeeded = {"--args", "--perms", "--size", "--as-pid-1", "--clearenv", "--cap-drop"};

// What it can do, by its own account.
void read_abilities(BubblewrapFacts& found, const HostFacts& facts) {
  struct stat status = {};
  found.setuid = ::stat(found.path.c_str(), &status) == 0 && (status.st_mode & S_ISUID) != 0;
  found.version = version_in(run_tool({found.path, "--version"}, facts).text);
  const std::string help = run_tool({found.path, "--help"}, facts).text;
  const auto knows = [&help](std::string_view option) {
    return help.find(text::cat(option, " ")) != std::string::npos;
  };
  for (const std::string_view option : kNeeded) {
    if (!knows(option)) {
      found.trial = {.step = "options",
                     .reason = "backend_version",
                     .hint = text::cat("bubblewrap ", found.version, " lacks ", option, "; 0.8 or later is needed")};
      return;
    }
  }
  found.disable_userns = knows("--disable-userns") && !found.setuid;
}

Trial try_bubblewrap(const std::string& path, const HostFacts& facts) {
  constexpr std::string_view kOptions =
      "--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup --cap-drop ALL "
      // Else bwrap's own pid 1 would outlive it and be left to whoever adopts orphans.
      "--as-pid-1 --new-session --die-with-parent --clearenv --ro-bind / / --proc /proc --";
  std::vector<std::string> argv = {path};
  for (const std::string_view option : text::split(kOptions, ' ')) {
    argv.emplace_back(option);
  }
  argv.insert(argv.end(), {path, "--version"});
  const ToolOutput ran = run_tool(argv, facts);
  if (ran.status == 0) {
    return {.works = true, .step = "done"};
  }
  Trial trial{.step = "run"};
  if (ran.text.find("mount proc") != std::string::npos) {
    trial.reason = "proc_masked";
    trial.hint = std::string(kProcHint);
  } else {
    explain_userns(trial, sysctl);
  }
  trial.hint = text::cat(trial.hint, "; bubblewrap says: ", text::printable(ran.text, 300));
  return trial;
}

}  // namespace

BubblewrapFacts probe_bubblewrap(const HostFacts& facts) {
  BubblewrapFacts found;
  found.path = find_system_tool("bwrap");
  if (found.path.empty()) {
    found.trial = {.step = "find",
                   .error_number = ENOENT,
                   .reason = "backend_missing",
                   .hint = "install bubblewrap (apt-get install bubblewrap)"};
    return found;
  }
  read_abilities(found, facts);
  if (found.trial.reason.empty()) {
    found.trial = try_bubblewrap(found.path, facts);
  }
  return found;
}

}  // namespace cordon::sandbox
