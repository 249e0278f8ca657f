// SPDX-License-Identifier: Apache-2.0
// What stays beside the server: outside a guard that holds the launcher's lifeline, inside init, which reaps, hands
// signals on and ends everything. Each ends when the other does, so that whichever is killed, nothing stays behind:
//   launcher gone  → lifeline at its end → guard kills, init exits → the kernel kills the whole pid namespace
//   guard killed   → leash at its end (and the parent-death signal) → init exits → the same
// A tool is a third party: bubblewrap's own child waits for ever if its parent is killed at the wrong moment. So there
// the guard is a keeper with a guard of its own above it; both adopt orphans, and one of them is left to end them.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>

#include "base/text.hpp"
#include "sandbox/stage/connects.hpp"
#include "sandbox/stage/container.hpp"
#include "sandbox/stage/privileges.hpp"
#include "sandbox/stage/stage.hpp"
#include "sandbox/stage/tracer.hpp"

namespace cordon::sandbox::stage {
namespace {

// From the first request to end until what is left is killed; together below the second that is promised.
constexpr std::int64_t kInitGraceMs = 700;
constexpr std::int64_t kGuardGraceMs = 800;
constexpr std::int64_t kKeeperGraceMs = 900;
// An engine tidies up after a container has ended; only then is its client through.
constexpr std::int64_t kClientGraceMs = 3000;
constexpr std::int64_t kContainerGraceMs = 15000;

// How many stops of a traced server are looked at before the rest: it may make as many as it likes.
constexpr int kStopsInARow = 256;
// How long the end waits for a reader of the trace.
constexpr int kTraceEndMs = 100;

constexpr std::array kHandedOn = {SIGTERM, SIGINT, SIGHUP};

std::int64_t now_ms() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

sigset_t guarded_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int number : kHandedOn) {
    ::sigaddset(&set, number);
  }
  return set;
}

UniqueFd open_signals(Stage& stage) {
  const sigset_t set = guarded_signals();
  UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) {
    report_and_exit(stage, "guard", {.detail = errno_text("signalfd", errno)});
  }
  return fd;
}

int exit_code(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

// The server's ends of its pipes must be its own, or nobody would see them close.
void let_go_of_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::close(fd);
  }
}

void shed_privileges() {
  // Only hygiene: what stays here runs no foreign code.
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)clear_capabilities();
  (void)::prctl(PR_SET_DUMPABLE, 0);
}

// A moment by which everything is over; unset until somebody asks for the end.
class Deadline {
 public:
  void start(std::int64_t grace_ms) {
    if (at_ms_ < 0) {
      at_ms_ = now_ms() + grace_ms;
    }
  }
  bool passed() const { return at_ms_ >= 0 && now_ms() >= at_ms_; }
  int poll_timeout_ms() const {
    return at_ms_ < 0 ? -1 : static_cast<int>(std::max<std::int64_t>(at_ms_ - now_ms(), 0));
  }

 private:
  std::int64_t at_ms_ = -1;
};

// The next signal that arrived, 0 if there is none.
int next_signal(int signals) {
  signalfd_siginfo info = {};
  const ssize_t length = ::read(signals, &info, sizeof info);
  return length == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

bool readable(const pollfd& one) { return one.revents != 0; }

pollfd watch(const UniqueFd& fd) { return {.fd = fd.get(), .events = POLLIN, .revents = 0}; }

// Nothing to watch, unless a trace is held up by its reader.
pollfd unsent(const Tracer* tracer) {
  const bool waits = tracer != nullptr && tracer->unsent();
  return {.fd = waits ? tracer->out_fd() : -1, .events = POLLOUT, .revents = 0};
}

// Everything that is a child of ours now; orphans become that because we are a subreaper.
std::vector<pid_t> children() {
  std::vector<pid_t> list;
  const std::string path = text::cat("/proc/self/task/", ::getpid(), "/children");
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string content(65536, '\0');
  const ssize_t length = file ? ::read(file.get(), content.data(), content.size()) : 0;
  content.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  for (const std::string_view word : text::split(content, ' ')) {
    pid_t pid = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), pid).ec == std::errc() && pid > 0) {
      list.push_back(pid);
    }
  }
  return list;
}

class OuterGuard {
 public:
  OuterGuard(Stage& stage, ToolProcess child)
      : stage_(stage),
        child_(child.pid),
        errors_(std::move(child.errors)),
        reports_(std::move(child.reports)),
        signals_(open_signals(stage)) {}

  [[noreturn]] void run() {
    for (;;) {
      std::array<pollfd, 5> watched = {watch(stage_.lifeline), watch(signals_), watch(stage_.ready_in), watch(errors_),
                                       watch(stage_.container_listener)};
      (void)::poll(watched.data(), watched.size(), deadline_.poll_timeout_ms());
      if (readable(watched[0]) || deadline_.passed()) {
        end_and_finish();
      }
      if (readable(watched[4])) {
        if (const Outcome given = hand_over(stage_); !given) {
          end_agent();
          (void)end_container(stage_, child_, -1);
          report_and_exit(stage_, stage_.plan.backend, given.error());
        }
      }
      if (readable(watched[3])) {
        take_errors();
      }
      if (readable(watched[2])) {
        take_ready();
      }
      if (readable(watched[1])) {
        take_signals();
      }
    }
  }

 private:
  // Nothing else of ours that is a child: should /proc not list them, waiting for it would be for ever.
  void end_agent() {
    if (stage_.agent > 0) {
      ::kill(stage_.agent, SIGKILL);
    }
  }

  [[noreturn]] void end_and_finish() {
    end_agent();
    if (!stage_.plan.in_container()) {
      finish(end_all(child_));
    }
    const int status = end_container(stage_, child_, -1);
    const int killed = end_all(status < 0 ? child_ : -1);
    finish(status < 0 ? killed : status);
  }

  void take_errors() {
    std::array<char, 1024> buffer = {};
    const ssize_t length = ::read(errors_.get(), buffer.data(), buffer.size());
    if (length <= 0) {
      errors_.reset();
    } else if (error_text_.size() < 2 * buffer.size()) {
      error_text_.append(buffer.data(), static_cast<std::size_t>(length));
    }
  }

  // What there is; true when there was anything.
  bool hand_on_reports() {
    if (!reports_ || ::fcntl(reports_.get(), F_SETFL, O_NONBLOCK) != 0) {
      return false;
    }
    bool any = false;
    std::array<char, 4096> buffer = {};
    for (;;) {
      const ssize_t length = ::read(reports_.get(), buffer.data(), buffer.size());
      if (length <= 0) {
        return any;
      }
      any = true;
      (void)!::write(stage_.status.get(), buffer.data(), static_cast<std::size_t>(length));
    }
  }

  void take_ready() {
    char byte = 0;
    if (::read(stage_.ready_in.get(), &byte, 1) == 1) {
      hand_on_reports();
      // The one inside has reported, or its exec will: from here on our copy would only hide the end of file.
      stage_.status.reset();
    }
    stage_.ready_in.reset();
  }

  void take_signals() {
    while (const int number = next_signal(signals_.get())) {
      if (number != SIGCHLD) {
        const auto byte = static_cast<char>(number);
        (void)!::write(stage_.leash_out.get(), &byte, 1);
        deadline_.start(stage_.plan.in_container() ? kClientGraceMs : kGuardGraceMs);
      }
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == stage_.agent) {
        stage_.agent = -1;  // names below a wildcard are reached no more
      }
      if (ended == child_) {
        end_agent();
        if (stage_.plan.in_container()) {
          (void)end_container(stage_, -1, status);
        }
        (void)end_all(-1);
        finish(status);
      }
    }
  }

  [[noreturn]] void finish(int status) {
    if (stage_.ready_in) {
      take_ready();
    }
    while (errors_) {
      take_errors();
    }
    wait_until_swept(stage_);
    if (stage_.status && hand_on_reports()) {
      stage_.status.reset();
    }
    if (stage_.status && !error_text_.empty()) {
      report_and_exit(stage_, stage_.plan.backend, {.detail = error_text_});
    }
    if (stage_.status) {
      report_and_exit(stage_, stage_.plan.backend,
                      {.detail = text::cat("ended before the server was started, with status ", exit_code(status))});
    }
    ::_exit(exit_code(status));
  }

  Stage& stage_;
  pid_t child_;
  UniqueFd errors_;
  UniqueFd reports_;
  UniqueFd signals_;
  std::string error_text_ = {};
  Deadline deadline_ = {};
};

[[noreturn]] void leave(Stage& stage, int status) {
  wait_until_swept(stage);
  ::_exit(status);
}

}  // namespace

int end_all(pid_t main_child) {
  int main_status = -1;
  for (;;) {
    for (const pid_t pid : children()) {
      ::kill(pid, SIGKILL);
    }
    if (main_child > 0) {
      ::kill(main_child, SIGKILL);
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended > 0 && ended == main_child) {
      main_status = status;
      main_child = -1;  // its pid may be somebody else's now
    } else if (ended < 0 && errno != EINTR) {
      return main_status;
    }
  }
}

void block_guarded_signals() {
  const sigset_t set = guarded_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a leash without a reader is no reason to die
}

Outcome open_guard_pipes(Stage& stage) {
  std::array<int, 2> leash = {-1, -1};
  std::array<int, 2> ready = {-1, -1};
  if (::pipe2(leash.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  stage.leash_in = UniqueFd(leash[0]);
  stage.leash_out = UniqueFd(leash[1]);
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  stage.ready_in = UniqueFd(ready[0]);
  stage.ready_out = UniqueFd(ready[1]);
  return {};
}

pid_t fork_or_exit(Stage& stage, std::string_view step) {
  const pid_t pid = ::fork();
  if (pid < 0) {
    report_and_exit(stage, step, {.detail = errno_text("fork", errno)});
  }
  return pid;
}

void guard_from_outside(Stage& stage, ToolProcess child) {
  stage.leash_in.reset();
  stage.ready_out.reset();
  stage.sources.clear();
  stage.trace.reset();
  stage.go.reset();
  stage.group_doors.clear();
  stage.binary.reset();
  let_go_of_standard_descriptors();
  // A tool that dies leaves its pid 1 to us: only when that is gone, too, are we done.
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Removing a container takes the rights that making it took; its doors are opened when its pid 1 asks for them.
  if (!stage.plan.in_container()) {
    stage.handover.reset();
    shed_privileges();
  }
  OuterGuard(stage, std::move(child)).run();
}

void serve_as_init(Stage& stage, pid_t server, Tracer* tracer) {
  stage.status.reset();
  stage.ready_out.reset();
  stage.go.reset();
  let_go_of_standard_descriptors();
  shed_privileges();
  const UniqueFd signals = open_signals(stage);
  Connects connects(stage);
  Deadline deadline;
  const auto hand_on = [&](int number) {
    ::kill(server, number);
    deadline.start(kInitGraceMs);
  };
  // The kernel takes the rest of the namespace along.
  const auto end = [&](int status, int wait_ms) {
    if (tracer != nullptr) {
      tracer->finish(wait_ms);
    }
    ::_exit(status);
  };
  bool more = false;
  for (;;) {
    const auto asked = connects.watched();
    std::array<pollfd, 6> watched = {
        watch(stage.lifeline), watch(stage.leash_in), watch(signals), unsent(tracer), asked[0], asked[1]};
    (void)::poll(watched.data(), watched.size(), more ? 0 : deadline.poll_timeout_ms());
    if (readable(watched[0]) || deadline.passed()) {
      end(128 + SIGKILL, 0);
    }
    if (readable(watched[1])) {
      char number = 0;
      if (::read(stage.leash_in.get(), &number, 1) != 1) {
        end(128 + SIGKILL, 0);
      }
      hand_on(number);
    }
    while (const int number = next_signal(signals.get())) {
      if (number != SIGCHLD) {
        hand_on(number);
      }
    }
    more = false;
    int status = 0;
    pid_t pid = 0;
    for (int count = 0; !more && (pid = ::waitpid(-1, &status, WNOHANG | __WALL)) > 0; ++count) {
      const bool stop = tracer != nullptr && tracer->took(pid, status);
      if (!stop && pid == server) {
        end(exit_code(status), kTraceEndMs);
      }
      connects.ended(pid);
      more = count == kStopsInARow;
    }
    if (tracer != nullptr) {
      tracer->flush();
    }
    connects.serve({watched[4], watched[5]});
  }
}

void guard_child(Stage& stage, pid_t child, UniqueFd hold) {
  stage.status.reset();
  stage.binary.reset();
  stage.handover.reset();
  stage.sources.clear();
  stage.group_doors.clear();
  let_go_of_standard_descriptors();
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  (void)::prctl(PR_SET_DUMPABLE, 0);
  const UniqueFd signals = open_signals(stage);
  const std::int64_t grace_ms = stage.plan.in_container() ? kContainerGraceMs : hold ? kKeeperGraceMs : kInitGraceMs;
  Deadline deadline;
  for (;;) {
    std::array<pollfd, 2> watched = {watch(stage.lifeline), watch(signals)};
    (void)::poll(watched.data(), watched.size(), deadline.poll_timeout_ms());
    if (readable(watched[0])) {
      // A keeper is told by its own lifeline and ends things in order; anything else is simply killed.
      if (!hold) {
        (void)end_all(child);
        leave(stage, 128 + SIGKILL);
      }
      stage.lifeline.reset();
      hold.reset();
      deadline.start(grace_ms);
    }
    if (deadline.passed()) {
      if (stage.plan.in_container()) {
        ::kill(child, SIGKILL);
        (void)end_container(stage, -1, -1);
      }
      (void)end_all(child);
      leave(stage, 128 + SIGKILL);
    }
    while (const int number = next_signal(signals.get())) {
      if (number != SIGCHLD) {
        ::kill(child, number);
        deadline.start(grace_ms);
      }
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == child) {
        if (stage.plan.in_container() && WIFSIGNALED(status)) {
          (void)end_container(stage, -1, status);
        }
        (void)end_all(-1);
        remove_container_folder(stage);
        leave(stage, exit_code(status));
      }
    }
  }
}

}  // namespace cordon::sandbox::stage
