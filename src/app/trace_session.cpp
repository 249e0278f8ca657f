// SPDX-License-Identifier: Apache-2.0
#include "app/trace_session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "app/paths.hpp"
#include "base/text.hpp"
#include "run/files.hpp"
#include "sandbox/confine.hpp"
#include "sandbox/select.hpp"

namespace cordon::app {
namespace {

// Room for all that init ever says, so that it need not wait for us. More than the kernel allows is no harm.
constexpr int kPipeBytes = 1 << 20;
constexpr int kParkingFd = 16;  // above all of them

struct Ends {
  UniqueFd in = {};
  UniqueFd out = {};
};

Result<Ends> make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Errc::internal, errno_text("pipe2", errno), "trace");
  }
  return Ends{UniqueFd(ends[0]), UniqueFd(ends[1])};
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

// What the listener has, each at the number of its place; everything else that we have open is closed for it: log,
// terminal, client.
constexpr int kPipeFd = 3;
constexpr int kFileFd = 4;
constexpr int kReadyFd = 6;
bool arrange(int summary, int pipe, int file, int done, int ready) {
  UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::array<int, 7> from = {nothing.get(), nothing.get(), summary, pipe, file, done, ready};
  std::array<int, from.size()> parked = {};
  for (std::size_t i = 0; i < from.size(); ++i) {
    parked[i] = ::fcntl(from[i], F_DUPFD_CLOEXEC, kParkingFd);
    if (parked[i] < 0) {
      return false;
    }
  }
  nothing.reset();  // its number may be one of those below
  for (int number = 0; const int fd : parked) {
    if (::dup2(fd, number) != number) {
      return false;
    }
    ++number;
  }
  return ::close_range(static_cast<unsigned>(parked.size()), ~0U, 0) == 0;
}

[[noreturn]] void listen(TraceSetting setting, const std::string& path) {
  ::signal(SIGPIPE, SIG_IGN);
  sandbox::OwnNeeds needs;
  if (setting.around.plan.switch_user) {
    needs.become = sandbox::Identity{setting.around.plan.uid, setting.around.plan.gid};
  }
  const bool ready = sandbox::confine_self(needs).has_value();
  if (!ready || !write_all(kReadyFd, "r")) {
    ::_exit(1);
  }
  ::close(kReadyFd);
  TraceReport report(std::move(setting));
  std::array<char, 65'536> buffer = {};
  for (;;) {
    const ssize_t got = ::read(kPipeFd, buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      break;
    }
    report.take(std::string_view(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
  }
  bool done = write_all(kFileFd, text::cat(report.to_json(), '\n'));
  for (const std::string& line : report.summary(path)) {
    done = write_all(STDERR_FILENO, text::cat("mcp-cordon: ", line, '\n')) && done;
  }
  ::_exit(done ? 0 : 1);
}

}  // namespace

std::string trace_folder(const std::string& state_folder, const std::string& server) {
  return text::cat(state_folder, "/trace/", server);
}

std::string trace_file_name(const std::string& log_path) {
  const std::string log = file_name_of(log_path);
  return text::cat(log.substr(0, log.rfind('.')), ".json");
}

Status admit_trace(const sandbox::Plan& plan) {
  const auto refused = [&](std::string_view requirement, std::string_view reason, std::string_view hint) {
    return std::unexpected(sandbox::to_error({.backend = plan.backend,
                                              .requirement = std::string(requirement),
                                              .reason = std::string(reason),
                                              .error_number = 0,
                                              .hint = std::string(hint)}));
  };
  if (plan.backend != "native") {
    return refused("trace", "not_offered", "run --trace works with isolation.backend: native");
  }
  if (!plan.syscall_filter) {
    return refused("trace", "not_offered", "run --trace works with a filter of system calls (isolation.syscalls)");
  }
  return {};
}

Result<TraceSession> TraceSession::start(TraceSetting setting, const std::string& path, int summary_fd) {
  if (auto folder = run::ensure_private_folder(parent_of(path)); !folder) {
    return std::unexpected(folder.error());
  }
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600));
  if (!file) {
    return fail(Errc::file_unreadable, errno_text("open", errno), path);
  }
  TraceSession session;
  session.path_ = path;
  auto lines = make_pipe();
  auto done = make_pipe();
  auto ready = make_pipe();
  if (!lines || !done || !ready) {
    session.abandon();
    return std::unexpected(!lines ? lines.error() : !done ? done.error() : ready.error());
  }
  (void)::fcntl(lines->in.get(), F_SETPIPE_SZ, kPipeBytes);
  session.pipe_ = std::move(lines->out);
  session.done_ = std::move(done->in);
  const pid_t between = ::fork();
  if (between == 0) {
    // Nobody waits for the listener: it is the child of one that is gone.
    if (::setsid() < 0 || ::fork() != 0) {
      ::_exit(0);
    }
    if (!arrange(summary_fd, lines->in.get(), file.get(), done->out.get(), ready->out.get())) {
      ::_exit(1);
    }
    listen(std::move(setting), path);
  }
  while (between > 0 && ::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  ready->out.reset();
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(ready->in.get(), &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) {
    session.abandon();
    return fail(Errc::internal, "the listener of the trace could not be started", "trace");
  }
  return session;
}

void TraceSession::abandon() {
  pipe_.reset();
  ::unlink(path_.c_str());
}

void TraceSession::wait(std::int64_t most_ms) {
  pipe_.reset();
  pollfd end = {.fd = done_.get(), .events = POLLIN, .revents = 0};
  while (::poll(&end, 1, static_cast<int>(most_ms)) < 0 && errno == EINTR) {
  }
}

}  // namespace cordon::app
