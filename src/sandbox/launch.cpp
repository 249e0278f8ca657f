// SPDX-License-Identifier: Apache-2.0
#include "sandbox/launch.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/plan_codec.hpp"
#include "sandbox/stage/descriptors.hpp"

namespace cordon::sandbox {
namespace {

// Above the numbers that the stage expects, so that no move overwrites a source.
constexpr int kParkingFd = 32;

std::unexpected<Error> failed(std::string_view what) {
  return fail(Errc::launch_failed, errno_text(what, errno), "launch");
}

// The stage isolates: whoever could write it, or put another file in its place, could switch that off.
Status check_owner(const std::string& path, const struct stat& status, bool folder) {
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = folder && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_uid != 0 && status.st_uid != ::geteuid()) || (others_write && !sticky)) {
    return fail(Errc::file_untrusted, "can be changed by others", text::printable(path),
                "it must belong to root or to you, and be writable by nobody else");
  }
  return {};
}

Result<UniqueFd> open_stage(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return fail(Errc::launch_failed, errno_text("the stage helper is missing", errno), text::printable(path),
                "reinstall mcp-cordon");
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(Errc::file_untrusted, "not a regular file", text::printable(path));
  }
  if (auto trusted = check_owner(path, status, false); !trusted) {
    return std::unexpected(trusted.error());
  }
  for (std::string folder(parent_path(path));; folder = std::string(parent_path(folder))) {
    if (::lstat(folder.c_str(), &status) != 0) {
      return failed(folder);
    }
    if (auto trusted = check_owner(folder, status, true); !trusted) {
      return std::unexpected(trusted.error());
    }
    if (folder == "/") {
      return file;
    }
  }
}

// Installed as PREFIX/libexec/mcp-cordon/stage beside PREFIX/bin/mcp-cordon; in a build tree beside the programs'
// folders.
Result<std::string> default_stage_path() {
  std::array<char, PATH_MAX> self = {};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  if (length <= 0) {
    return fail(Errc::launch_failed, errno_text("/proc/self/exe", errno), "launch");
  }
  const std::string_view folder = parent_path({self.data(), static_cast<std::size_t>(length)});
  const std::string installed = text::cat(parent_path(folder), "/libexec/mcp-cordon/stage");
  const std::string built = text::cat(parent_path(folder), "/sandbox/stage/stage");
  return ::access(installed.c_str(), F_OK) != 0 && ::access(built.c_str(), F_OK) == 0 ? built : installed;
}

Result<UniqueFd> park(UniqueFd fd) {
  UniqueFd parked(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kParkingFd));
  if (!parked) {
    return failed("F_DUPFD");
  }
  return parked;
}

// The plan in sealed memory: whoever inherits it cannot change it.
Result<UniqueFd> plan_file(const Plan& plan) {
  UniqueFd file(::memfd_create("mcp-cordon-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::string bytes = encode(plan, {});
  if (!file || ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    return failed("plan");
  }
  return park(std::move(file));
}

struct Pipe {
  UniqueFd ours;
  UniqueFd theirs;  // parked
};

Result<Pipe> make_pipe(bool they_read) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  auto theirs = park(they_read ? std::move(read_end) : std::move(write_end));
  if (!theirs) {
    return std::unexpected(theirs.error());
  }
  return Pipe{they_read ? std::move(write_end) : std::move(read_end), std::move(*theirs)};
}

Result<Pipe> make_pair() {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return failed("socketpair");
  }
  UniqueFd ours(ends[0]);
  auto theirs = park(UniqueFd(ends[1]));
  if (!theirs) {
    return std::unexpected(theirs.error());
  }
  return Pipe{std::move(ours), std::move(*theirs)};
}

class SpawnRequest {
 public:
  SpawnRequest() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnRequest() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnRequest(const SpawnRequest&) = delete;
  SpawnRequest& operator=(const SpawnRequest&) = delete;

  void give(const UniqueFd& fd, int number) { ::posix_spawn_file_actions_adddup2(&actions_, fd.get(), number); }

  // Nothing of the plan in an argument or an environment variable: both can be read by anybody who may look into /proc.
  // `kind`: a word that it is told; null for a launch that goes straight on.
  Result<pid_t> spawn(const std::string& path, const char* kind) {
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    std::string name = stage::kProgramName;
    std::string word = kind == nullptr ? "" : kind;
    std::array<char*, 3> argv = {name.data(), kind == nullptr ? nullptr : word.data(), nullptr};
    std::array<char*, 1> environment = {nullptr};
    pid_t pid = -1;
    const int rc = ::posix_spawn(&pid, path.c_str(), &actions_, &attributes_, argv.data(), environment.data());
    if (rc != 0) {
      return fail(Errc::launch_failed, errno_text("start of the stage helper", rc), "launch");
    }
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_ = {};
  posix_spawnattr_t attributes_ = {};
};

// Descriptors that only some plans need. They stay open until the stage has its own.
struct Extras {
  UniqueFd trace = {};
  Pipe handover = {};
  Pipe notes = {};
  Pipe go = {};
};

Result<Extras> give_extras(const Plan& plan, const LaunchOptions& options, SpawnRequest& request) {
  Extras extras;
  if (plan.trace) {
    extras.trace = UniqueFd(::fcntl(options.trace_fd, F_DUPFD_CLOEXEC, kParkingFd));
    if (!extras.trace) {
      return failed("trace");
    }
    request.give(extras.trace, stage::kTraceFd);
  }
  if (plan.network.hosts()) {
    auto made = make_pair();
    if (!made) {
      return std::unexpected(made.error());
    }
    extras.handover = std::move(*made);
    request.give(extras.handover.theirs, stage::kHandoverFd);
  }
  if (!plan.groups.empty()) {
    auto made = make_pipe(false);
    if (!made) {
      return std::unexpected(made.error());
    }
    extras.notes = std::move(*made);
    request.give(extras.notes.theirs, stage::kNotesFd);
  }
  if (options.held) {
    auto made = make_pair();
    if (!made) {
      return std::unexpected(made.error());
    }
    extras.go = std::move(*made);
    request.give(extras.go.theirs, stage::kGoFd);
  }
  return extras;
}

}  // namespace

bool can_be_held(const Plan& plan) {
  return plan.own_namespaces && plan.tool.empty() && !plan.shared_host && !plan.trace;
}

Result<Launched> launch(const Plan& plan, const LaunchOptions& options) {
  if (options.held && (options.spare || !can_be_held(plan))) {
    return fail(Errc::internal, "this launch cannot be held", "launch");
  }
  auto path = options.stage_path.empty() ? default_stage_path() : Result<std::string>(options.stage_path);
  if (!path) {
    return std::unexpected(path.error());
  }
  auto opened = open_stage(*path);
  if (!opened) {
    return std::unexpected(opened.error());
  }
  auto program = park(std::move(*opened));
  auto plan_fd = plan_file(plan);
  auto in = make_pipe(true);
  auto out = make_pipe(false);
  auto err = make_pipe(false);
  auto status = make_pipe(false);
  auto lifeline = make_pipe(true);
  for (const Error* error : {program ? nullptr : &program.error(), plan_fd ? nullptr : &plan_fd.error(),
                             in ? nullptr : &in.error(), out ? nullptr : &out.error(), err ? nullptr : &err.error(),
                             status ? nullptr : &status.error(), lifeline ? nullptr : &lifeline.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  SpawnRequest request;
  request.give(in->theirs, STDIN_FILENO);
  request.give(out->theirs, STDOUT_FILENO);
  request.give(err->theirs, STDERR_FILENO);
  request.give(status->theirs, stage::kStatusFd);
  request.give(lifeline->theirs, stage::kLifelineFd);
  request.give(*plan_fd, stage::kPlanFd);
  auto extras = give_extras(plan, options, request);
  if (!extras) {
    return std::unexpected(extras.error());
  }
  // Through the descriptor, so that what was checked is what runs.
  auto pid = request.spawn(text::cat("/proc/self/fd/", program->get()), options.spare  ? stage::kSpareWord
                                                                        : options.held ? stage::kHeldWord
                                                                                       : nullptr);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  return Launched{.pid = *pid,
                  .server_in = std::move(in->ours),
                  .server_out = std::move(out->ours),
                  .server_err = std::move(err->ours),
                  .status = std::move(status->ours),
                  .lifeline = std::move(lifeline->ours),
                  .handover = std::move(extras->handover.ours),
                  .go = std::move(extras->go.ours),
                  .notes = std::move(extras->notes.ours)};
}

Status begin(const UniqueFd& lifeline) {
  // Its end is reported and not a signal: whoever launches wants to tell the client.
  if (::write(lifeline.get(), &stage::kStartWord, 1) != 1) {
    return failed("the second launch cannot be begun");
  }
  return {};
}

Status release(const UniqueFd& go) {
  if (::send(go.get(), &stage::kStartWord, 1, MSG_NOSIGNAL) != 1) {
    return failed("the server cannot be let go");
  }
  return {};
}

Result<egress::Sockets> receive_sockets(const Plan& plan, const UniqueFd& handover) {
  if (!plan.network.hosts()) {
    return egress::Sockets{};
  }
  std::array<std::byte, egress::kMessageBytes> bytes = {};
  std::vector<char> control(CMSG_SPACE(egress::kMostDescriptors * sizeof(int)));
  iovec part = {.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = ::recvmsg(handover.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) {
    return failed("the sockets of the namespace did not come");
  }
  std::vector<UniqueFd> descriptors;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::vector<int> numbers(count);
    std::memcpy(numbers.data(), CMSG_DATA(head), count * sizeof(int));
    for (const int number : numbers) {
      descriptors.emplace_back(number);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return fail(Errc::launch_failed, "the sockets of the namespace did not come whole", "egress",
                "allow more open files (ulimit -n)");
  }
  return egress::take_handover(plan.network.doors, std::span(bytes).first(static_cast<std::size_t>(length)),
                               std::move(descriptors));
}

Result<egress::Sockets> receive_sockets(const Plan& plan, const Launched& launched) {
  return receive_sockets(plan, launched.handover);
}

Error error_from_status(std::string_view line, std::string_view backend) {
  while (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  constexpr std::string_view kReason = " [reason=";
  const std::size_t mark = line.rfind(kReason);
  Error error{.code = Errc::launch_failed, .detail = std::string(line), .where = std::string(backend)};
  if (mark != std::string_view::npos && line.ends_with(']')) {
    const std::string_view tail = line.substr(mark + kReason.size());
    error.code = Errc::unsupported_isolation;
    const std::string_view reason = tail.substr(0, tail.find(' '));
    error.detail = text::cat(line.substr(0, mark), ": reason ", reason);
    if (reason == "network_denied") {
      error.remedy = "without its sockets no host can be reached: write network: none, or use another backend";
    }
  }
  return error;
}

}  // namespace cordon::sandbox
