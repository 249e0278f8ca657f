// SPDX-License-Identifier: Apache-2.0
// Does what a launch does, in a child, and reports the first thing that fails. Sysctls are read afterwards only, for
// the hint: under AppArmor unshare succeeds and the first privileged act in the namespace fails.
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/stage/kernel.hpp"

namespace cordon::sandbox {
namespace {

enum class Attempt : std::uint8_t { identity, unshare, id_map, loopback, fork, mounts, tmpfs, proc, done };

constexpr std::array<std::string_view, 9> kAttemptNames = {"identity", "unshare", "uid_map", "loopback", "fork",
                                                           "mounts",   "tmpfs",   "proc",    "done"};

struct Report {
  Attempt attempt = Attempt::done;
  int error_number = 0;
};

[[noreturn]] void report(int pipe, Attempt attempt, int error_number) {
  const Report result = {attempt, error_number};
  (void)!::write(pipe, &result, sizeof result);
  ::_exit(0);
}

bool write_file(const char* path, const std::string& content) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
}

bool loopback_up() {
  const UniqueFd socket_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::memcpy(request.ifr_name, "lo", sizeof "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket_fd && ::ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) == 0;
}

bool can_mount(const char* type) {
  const UniqueFd context(kernel::fsopen(type));
  if (!context || kernel::fsconfig(context.get(), kernel::kConfigCreate, nullptr, nullptr) != 0) {
    return false;
  }
  const UniqueFd mount(kernel::fsmount(context.get(), kernel::kAttrNoSuid | kernel::kAttrNoDev | kernel::kAttrNoExec));
  const kernel::MountAttributes read_only = {.set = kernel::kAttrReadOnly};
  return mount && kernel::mount_setattr(mount.get(), 0, read_only) == 0;
}

[[noreturn]] void attempt_all(int pipe, const HostFacts& facts) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const int error_number = become_server_uid(facts); error_number != 0) {
    report(pipe, Attempt::identity, error_number);
  }
  // Else /proc/self/uid_map is root's: after a change of uid, and in a process that hides from its neighbours.
  if (::prctl(PR_SET_DUMPABLE, 1) != 0) {
    report(pipe, Attempt::identity, errno);
  }
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                CLONE_NEWCGROUP) != 0) {
    report(pipe, Attempt::unshare, errno);
  }
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", text::cat(facts.server_uid, " ", facts.server_uid, " 1\n")) ||
      !write_file("/proc/self/gid_map", text::cat(facts.server_gid, " ", facts.server_gid, " 1\n"))) {
    report(pipe, Attempt::id_map, errno);
  }
  if (!loopback_up()) {
    report(pipe, Attempt::loopback, errno);
  }
  const pid_t init = ::fork();
  if (init < 0) {
    report(pipe, Attempt::fork, errno);
  }
  if (init > 0) {
    ::waitpid(init, nullptr, 0);
    ::_exit(0);
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    report(pipe, Attempt::mounts, errno);
  }
  if (!can_mount("tmpfs")) {
    report(pipe, Attempt::tmpfs, errno);
  }
  if (!can_mount("proc")) {
    report(pipe, Attempt::proc, errno);
  }
  report(pipe, Attempt::done, 0);
}

}  // namespace

char sysctl(const char* path) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  char first = '\0';
  return file && ::read(file.get(), &first, 1) == 1 ? first : '\0';
}

namespace {

void explain(Trial& trial, Attempt attempt) {
  switch (attempt) {
    case Attempt::done:
      return;
    case Attempt::identity:
      trial.reason = "running_as_root";
      trial.hint = "start it as an ordinary user, or with the right to switch users";
      return;
    case Attempt::proc:
      trial.reason = "proc_masked";
      trial.hint = std::string(kProcHint);
      return;
    case Attempt::tmpfs:
      if (trial.error_number == ENOSYS) {
        trial.reason = "platform";
        trial.hint = "a kernel of version 5.12 or later is needed";
        return;
      }
      break;
    case Attempt::unshare:
    case Attempt::id_map:
    case Attempt::loopback:
    case Attempt::fork:
    case Attempt::mounts:
      break;
  }
  explain_userns(trial, sysctl);
}

}  // namespace

void explain_userns(Trial& trial, const std::function<char(const char*)>& sysctl) {
  trial.reason = "userns_denied";
  if (sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == '1') {
    trial.reason = "apparmor";
    trial.hint = "install an AppArmor profile with 'userns,' for libexec/mcp-cordon/stage (docs/isolation.md)";
  } else if (sysctl("/proc/sys/kernel/unprivileged_userns_clone") == '0') {
    trial.hint = "sysctl kernel.unprivileged_userns_clone=1 allows user namespaces on this system";
  } else if (sysctl("/proc/sys/user/max_user_namespaces") == '0') {
    trial.hint = "sysctl user.max_user_namespaces is 0: user namespaces are switched off";
  } else {
    trial.hint = "user namespaces are refused here; in a container its seccomp profile does that";
  }
}

int become_server_uid(const HostFacts& facts) {
  if (!facts.root()) {
    return 0;
  }
  if (facts.server_uid == 0 || facts.server_gid == 0) {
    return EPERM;
  }
  const bool switched = ::setgroups(0, nullptr) == 0 &&
                        ::setresgid(facts.server_gid, facts.server_gid, facts.server_gid) == 0 &&
                        ::setresuid(facts.server_uid, facts.server_uid, facts.server_uid) == 0;
  return switched ? 0 : errno;
}

Trial try_namespaces(const HostFacts& facts) {
  Trial trial;
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {.step = "pipe", .error_number = errno, .reason = "resources"};
  }
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return {.step = "fork", .error_number = errno, .reason = "resources"};
  }
  if (child == 0) {
    attempt_all(out.get(), facts);
  }
  out.reset();
  Report result = {Attempt::fork, EIO};
  while (::read(in.get(), &result, sizeof result) < 0 && errno == EINTR) {
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  trial.works = result.attempt == Attempt::done;
  trial.step = std::string(kAttemptNames.at(static_cast<std::size_t>(result.attempt)));
  trial.error_number = result.error_number;
  explain(trial, result.attempt);
  return trial;
}

}  // namespace cordon::sandbox
