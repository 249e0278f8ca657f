// SPDX-License-Identifier: Apache-2.0
#include "sandbox/stage/tracer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/text.hpp"
#include "sandbox/stage/tracee.hpp"
#include "sandbox/syscall_filter.hpp"

namespace cordon::sandbox::stage {
namespace {

constexpr std::size_t kMaxOpenCalls = 4096;

// Outcomes that mean that the call is made again: nothing happened yet.
constexpr std::int64_t kRestartFirst = -516;
constexpr std::int64_t kRestartLast = -512;

constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                          PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

void go_on(pid_t pid, __ptrace_request how, int signal_number = 0) {
  // It fails when the process was killed meanwhile: then its end is what comes next.
  (void)::ptrace(how, pid, nullptr, static_cast<long>(signal_number));
}

bool is_stopping(int number) {
  return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

}  // namespace

Outcome TraceGate::open() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  in_ = UniqueFd(ends[0]);
  out_ = UniqueFd(ends[1]);
  return {};
}

Outcome TraceGate::wait() {
  out_.reset();
  char byte = 0;
  if (::read(in_.get(), &byte, 1) != 1) {
    return refuse("init does not follow");
  }
  in_.reset();
  return {};
}

Outcome TraceGate::release() {
  in_.reset();
  const char byte = 'g';
  if (::write(out_.get(), &byte, 1) != 1) {
    return failed("the server is gone");
  }
  out_.reset();
  return {};
}

Tracer::Tracer(UniqueFd out) : out_(std::move(out)) {
  (void)::fcntl(out_.get(), F_SETFL, O_NONBLOCK);
  for (const TracedCall& call : traced_calls()) {
    if (const int number = call_number(call.name); number >= 0) {
      calls_by_number_[static_cast<std::uint64_t>(number)] = &call;
    }
  }
}

Outcome Tracer::follow(pid_t server) {
  server_ = server;
  if (::ptrace(PTRACE_SEIZE, server, nullptr, kOptions) != 0) {
    return failed("follow the server", "ptrace_denied");
  }
  return {};
}

bool Tracer::took(pid_t pid, int status) {
  if (!WIFSTOPPED(status)) {
    open_calls_.erase(pid);
    return false;
  }
  const int number = WSTOPSIG(status);
  switch (static_cast<unsigned>(status) >> 16U) {
    case PTRACE_EVENT_SECCOMP:
      go_on(pid, enter(pid) ? PTRACE_SYSCALL : PTRACE_CONT);
      return true;
    case PTRACE_EVENT_EXEC:
      executed(pid);
      go_on(pid, PTRACE_CONT);
      return true;
    case PTRACE_EVENT_STOP:
      // Stopped like any process, by a signal: it stays so until it is told to go on.
      go_on(pid, is_stopping(number) ? PTRACE_LISTEN : PTRACE_CONT);
      return true;
    case 0:
      if (number == (SIGTRAP | 0x80)) {
        leave(pid);
        go_on(pid, PTRACE_CONT);
      } else {
        go_on(pid, PTRACE_CONT, number);
      }
      return true;
    default:
      go_on(pid, PTRACE_CONT);
      return true;
  }
}

bool Tracer::enter(pid_t pid) {
  if (!live_) {
    return false;
  }
  ++counts_.calls;
  __ptrace_syscall_info info = {};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_SECCOMP) {
    ++counts_.unread;
    return false;
  }
  // A filter of the server's own may stop at anything.
  const auto found = calls_by_number_.find(info.seccomp.nr);
  if (found == calls_by_number_.end()) {
    return false;
  }
  Call call{.what = found->second, .access = found->second->access};
  if (open_calls_.size() >= kMaxOpenCalls || !describe(pid, info.seccomp.args, call)) {
    ++counts_.unread;
    return false;
  }
  if (call.path.empty() && call.second.empty()) {
    return false;  // about no path after all
  }
  open_calls_.insert_or_assign(pid, std::move(call));
  return true;
}

// False: something could not be read.
bool Tracer::describe(pid_t pid, const std::uint64_t* arguments, Call& call) const {
  const TracedCall& what = *call.what;
  const auto argument = [&](std::int8_t index) { return arguments[static_cast<std::size_t>(index)]; };
  const auto folder = [&](std::int8_t index) {
    return index == kNoArgument ? AT_FDCWD : static_cast<int>(static_cast<std::uint32_t>(argument(index)));
  };
  if (what.open_flags != kNoArgument) {
    call.access = access_of_open(argument(what.open_flags));
  }
  if (what.address != kNoArgument) {
    const auto address =
        read_address(pid, argument(what.address), argument(static_cast<std::int8_t>(what.address + 1)));
    call.path = address.value_or("");
    return address.has_value();
  }
  const auto path = read_path(pid, folder(what.folder), argument(what.path));
  call.path = path.value_or("");
  if (!path || what.second_path == kNoArgument) {
    return path.has_value();
  }
  const auto second = read_path(pid, folder(what.second_folder), argument(what.second_path));
  call.second = second.value_or("");
  return second.has_value();
}

void Tracer::leave(pid_t pid) {
  const auto found = open_calls_.find(pid);
  if (found == open_calls_.end()) {
    return;
  }
  const Call call = std::move(found->second);
  open_calls_.erase(found);
  __ptrace_syscall_info info = {};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_EXIT) {
    ++counts_.unread;
    return;
  }
  record(call, pid, info.exit.rval);
}

void Tracer::executed(pid_t pid) {
  live_ = live_ || pid == server_;
  // When another thread than the first executes, it goes on under the first one's number.
  unsigned long former = 0;
  if (::ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &former) != 0) {
    former = static_cast<unsigned long>(pid);
  }
  const auto found = open_calls_.find(static_cast<pid_t>(former));
  if (found != open_calls_.end()) {
    const Call call = std::move(found->second);
    open_calls_.erase(found);
    record(call, pid, 0);
  }
  open_calls_.erase(pid);
}

void Tracer::record(const Call& call, pid_t pid, std::int64_t outcome) {
  if (outcome >= kRestartFirst && outcome <= kRestartLast) {
    return;
  }
  TraceFinding finding{call.access, outcome < 0 ? static_cast<int>(-outcome) : 0, call.path};
  if (outcome >= 0 && (call.what->open_flags != kNoArgument || call.what->name == "creat")) {
    // What was really opened, whatever symlinks were on the way.
    if (auto opened = opened_path(pid, outcome)) {
      finding.path = std::move(*opened);
    }
  }
  add(finding);
  if (!call.second.empty()) {
    finding.path = call.second;
    add(finding);
  }
}

void Tracer::add(const TraceFinding& finding) {
  if (finding.path.empty()) {
    return;
  }
  std::string line = trace_line(finding);
  if (seen_.contains(line)) {
    return;
  }
  if (seen_.size() >= kMaxTraceFindings || seen_bytes_ + line.size() > kMaxTraceBytes) {
    ++counts_.dropped;
    return;
  }
  seen_bytes_ += line.size();
  if (out_) {
    out_text_ += text::cat(line, '\n');
  }
  seen_.insert(std::move(line));
}

void Tracer::flush() {
  std::size_t sent = 0;
  while (out_ && sent < out_text_.size()) {
    const ssize_t written = ::write(out_.get(), out_text_.data() + sent, out_text_.size() - sent);
    if (written > 0) {
      sent += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      out_.reset();  // nobody listens any more
    }
  }
  out_text_.erase(0, out_ ? sent : out_text_.size());
}

void Tracer::finish(int wait_ms) {
  out_text_ += text::cat(trace_line(counts_), '\n');
  flush();
  if (unsent() && wait_ms > 0) {
    pollfd room = {.fd = out_.get(), .events = POLLOUT, .revents = 0};
    (void)::poll(&room, 1, wait_ms);
    flush();
  }
  out_.reset();
}

}  // namespace cordon::sandbox::stage
