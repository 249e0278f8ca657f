// SPDX-License-Identifier: Apache-2.0
// The watcher of the control groups: no child of the guard, not in the groups, and the last to go. It keeps the rights
// that making the groups took, because removing them takes the same; it runs nothing foreign, listens to two
// descriptors, and signals only what lives in its groups.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

#include "base/text.hpp"
#include "sandbox/stage/groups.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr int kPauseMs = 5;
constexpr int kRounds = 400;  // together two seconds

std::string read_all(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  std::array<char, 4096> buffer = {};
  ssize_t length = 0;
  while (file && (length = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out;
}

// The number behind `key` in a file of "key number" lines.
std::uint64_t counter(const std::string& path, std::string_view key) {
  const std::string content = read_all(path);
  for (const std::string_view line : text::split(content, '\n')) {
    std::uint64_t value = 0;
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
      (void)std::from_chars(line.data() + key.size() + 1, line.data() + line.size(), value);
      return value;
    }
  }
  return 0;
}

// True when nothing was there to be killed.
bool kill_members(const std::string& path) {
  const std::string list = read_all(path + "/cgroup.procs");
  bool empty = true;
  for (const std::string_view word : text::split(list, '\n')) {
    pid_t pid = 0;
    // 0 stands for a process that our pid namespace does not show; it must not be taken for our own group.
    if (std::from_chars(word.data(), word.data() + word.size(), pid).ec == std::errc() && pid > 1) {
      empty = false;
      ::kill(pid, SIGKILL);
    }
  }
  return empty;
}

class Watch {
 public:
  Watch(const std::vector<WatchedGroup>& groups, UniqueFd hold, UniqueFd notes)
      : groups_(groups), hold_(std::move(hold)), notes_(std::move(notes)) {}

  void run() {
    for (;;) {
      std::vector<pollfd> watched = {{.fd = hold_.get(), .events = POLLIN, .revents = 0}};
      for (const WatchedGroup& group : groups_) {
        watched.push_back({.fd = group.out_of_memory.get(), .events = POLLIN, .revents = 0});  // -1 is passed over
      }
      (void)::poll(watched.data(), watched.size(), -1);
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        if (watched[i + 1].revents != 0) {
          take_event(groups_[i]);
        }
      }
      if (watched[0].revents != 0) {
        return finish();
      }
    }
  }

 private:
  // The kernel ends one process, the largest; half a tree is of no use to anybody.
  void take_event(const WatchedGroup& group) {
    std::uint64_t count = 0;
    (void)!::read(group.out_of_memory.get(), &count, sizeof count);
    ran_out_ = true;
    for (int round = 0; round < kRounds && !kill_members(group.path); ++round) {
      ::poll(nullptr, 0, kPauseMs);
    }
  }

  void finish() {
    for (const WatchedGroup& group : groups_) {
      for (int round = 0; round < kRounds && !kill_members(group.path); ++round) {
        ::poll(nullptr, 0, kPauseMs);
      }
    }
    say_what_was_reached();
    for (const WatchedGroup& group : groups_) {
      for (int round = 0; round < kRounds && ::rmdir(group.path.c_str()) != 0 && errno == EBUSY; ++round) {
        ::poll(nullptr, 0, kPauseMs);
      }
    }
  }

  void say_what_was_reached() {
    std::string text;
    for (const WatchedGroup& group : groups_) {
      const std::string events = text::cat(group.path, group.unified ? "/memory.events" : "/memory.oom_control");
      if (group.memory && (ran_out_ || counter(events, "oom_kill") > 0)) {
        text += "the server and what it started used more memory than isolation.limits.memory allows, and were ended\n";
      }
      if (const std::uint64_t times = group.processes ? counter(group.path + "/pids.events", "max") : 0; times > 0) {
        text += text::cat("the server reached isolation.limits.processes; ", times,
                          times == 1 ? " process was not started\n" : " processes were not started\n");
      }
    }
    if (notes_ && !text.empty()) {
      (void)!::write(notes_.get(), text.data(), text.size());
    }
  }

  const std::vector<WatchedGroup>& groups_;
  UniqueFd hold_;
  UniqueFd notes_;
  bool ran_out_ = false;
};

[[noreturn]] void watch(Stage& stage, const std::vector<WatchedGroup>& groups, UniqueFd hold) {
  ::setsid();  // whoever signals the guard's group means the launch, not us
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  UniqueFd notes = std::move(stage.notes);
  let_go_of_groups(stage);
  stage.status.reset();
  stage.go.reset();
  stage.lifeline.reset();
  stage.binary.reset();
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::close(fd);
  }
  if (::chdir("/") != 0) {
    ::_exit(1);
  }
  Watch(groups, std::move(hold), std::move(notes)).run();
  ::_exit(0);
}

}  // namespace

Outcome start_group_watch(Stage& stage, const std::vector<WatchedGroup>& groups) {
  std::array<int, 2> hold = {-1, -1};
  std::array<int, 2> done = {-1, -1};
  if (::pipe2(hold.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  UniqueFd hold_in(hold[0]);
  stage.group_hold = UniqueFd(hold[1]);
  if (::pipe2(done.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  stage.group_done = UniqueFd(done[0]);
  UniqueFd done_out(done[1]);
  // Twice, so that it is nobody's child whom the guard would end with the rest.
  const pid_t child = fork_or_exit(stage, "groups");
  if (child == 0) {
    if (fork_or_exit(stage, "groups") != 0) {
      ::_exit(0);
    }
    watch(stage, groups, std::move(hold_in));
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  stage.notes.reset();
  return {};
}

}  // namespace cordon::sandbox::stage
