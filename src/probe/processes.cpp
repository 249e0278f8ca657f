// SPDX-License-Identifier: Apache-2.0
// Other processes, new namespaces, terminals.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

constexpr int kMostForks = 512;

// The raw call, as glibc's wrapper wants a stack. The child ends at once.
int clone_with(std::uint64_t flags) {
  const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    ::_exit(0);
  }
  const int error_number = result_of(pid);
  if (pid > 0) {
    ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  }
  return error_number;
}

bool no_process(const Request& request, Result& result) {
  if (request.number("pid") > 1) {
    return false;
  }
  result.not_applicable("nothing was planted");
  return true;
}

void see(const Request& request, Result& result) {
  if (!no_process(request, result)) {
    result.denied("/proc/PID", [&] { return result_of(::access(("/proc/" + request.one("pid")).c_str(), F_OK)); });
  }
}

void environment(const Request& request, Result& result) {
  if (!no_process(request, result)) {
    result.denied("/proc/PID/environ", [&] { return read_one("/proc/" + request.one("pid") + "/environ"); });
  }
}

void memory(const Request& request, Result& result) {
  if (!no_process(request, result)) {
    for (const char* file : {"/mem", "/maps", "/root", "/cwd", "/fd/0"}) {
      const std::string path = "/proc/" + request.one("pid") + file;
      result.denied(file, [&] { return result_of_open(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); });
    }
  }
}

// Signal 0: asks whether one could be sent.
void signal_outside(const Request& request, Result& result) {
  if (!no_process(request, result)) {
    result.denied("kill", [&] { return result_of(::kill(request.number("pid"), 0)); });
  }
}

void signal_init(const Request& request, Result& result) {
  if (request.number("landlock") < 6 || !request.has("init")) {
    result.not_applicable("needs Landlock scopes and an init of ours");
    return;
  }
  result.refused("kill", "EPERM", [] { return result_of(::kill(1, 0)); });
}

void trace_init(const Request&, Result& result) {
  // Not ATTACH, which would stop it. Whoever has traced it lets go of it when it ends.
  result.denied("ptrace",
                [] { return in_child([] { return result_of(::ptrace(PTRACE_SEIZE, 1, nullptr, nullptr)); }); });
}

void trace(const Request&, Result& result) {
  char byte = 0;
  iovec local = {&byte, 1};
  result.refused("ptrace", "EPERM",
                 [] { return in_child([] { return result_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }); });
  result.refused("process_vm_readv", "EPERM",
                 [&] { return result_of(::process_vm_readv(::getpid(), &local, 1, &local, 1, 0)); });
  result.refused("process_vm_writev", "EPERM",
                 [&] { return result_of(::process_vm_writev(::getpid(), &local, 1, &local, 1, 0)); });
  result.refused("pidfd_getfd", "EPERM", [] { return result_of(::syscall(438, -1, 0, 0)); });
  result.refused("kcmp", "EPERM", [] { return result_of(::syscall(SYS_kcmp, ::getpid(), ::getpid(), 0, 0, 1)); });
  result.refused("process_madvise", "EPERM", [] { return result_of(::syscall(440, -1, nullptr, 0, 0, 0)); });
}

void unshare_user(const Request&, Result& result) {
  result.refused("unshare", "EPERM", [] { return in_child([] { return result_of(::unshare(CLONE_NEWUSER)); }); });
  result.refused("clone", "EPERM", [] { return clone_with(CLONE_NEWUSER); });
}

void other_namespaces(const Request& request, Result& result) {
  struct Flag {
    const char* name;
    std::uint64_t value;
  };
  constexpr std::array<Flag, 6> kFlags = {{{"mnt", CLONE_NEWNS},
                                           {"pid", CLONE_NEWPID},
                                           {"net", CLONE_NEWNET},
                                           {"ipc", CLONE_NEWIPC},
                                           {"uts", CLONE_NEWUTS},
                                           {"cgroup", 0x02000000}}};
  for (const Flag& flag : kFlags) {
    if (request.calls("nested") && (flag.value == CLONE_NEWPID || flag.value == CLONE_NEWNET)) {
      continue;  // without a user namespace for it the kernel refuses, with one it is allowed
    }
    result.refused(std::string("unshare ") + flag.name, "EPERM",
                   [&] { return in_child([&] { return result_of(::unshare(static_cast<int>(flag.value))); }); });
    result.refused(std::string("clone ") + flag.name, "EPERM", [&] { return clone_with(flag.value); });
  }
  result.refused("unshare time", "EPERM", [] { return result_of(::syscall(SYS_unshare, 0x80)); });
  result.refused("setns", "EPERM", [] { return result_of(::syscall(SYS_setns, -1, 0)); });
}

void fork_allowed(const Request&, Result& result) {
  result.allowed("fork", [] { return in_child([] { return 0; }); });
  result.allowed("clone", [] { return clone_with(0); });
}

void terminal_input(const Request&, Result& result) {
  char letter = 'x';
  result.refused("TIOCSTI", "EPERM", [&] { return result_of(::ioctl(0, 0x5412, &letter)); });
  result.refused("TIOCSTI, high bits", "EPERM",
                 [&] { return result_of(::syscall(SYS_ioctl, 0, 0x1'0000'5412, &letter)); });
  result.refused("TIOCLINUX", "EPERM", [&] { return result_of(::ioctl(0, 0x541c, &letter)); });
  int pending = 0;
  result.allowed("another ioctl", [&] { return result_of(::ioctl(0, FIONREAD, &pending)); });
}

void terminal(const Request&, Result& result) {
  result.denied("/dev/tty", [] { return result_of_open(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)); });
}

void nodes(const Request&, Result& result) {
  for (const char* path : {"/dev/ptmx", "/dev/console", "/dev/pts/ptmx", "/dev/kmsg", "/dev/mem", "/dev/fuse",
                           "/dev/kvm", "/dev/net/tun", "/dev/sda", "/dev/dri", "/dev/input", "/dev/snd"}) {
    result.denied(path, [&] { return result_of_open(::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)); });
  }
}

int fork_until_refused(int limit) {
  std::vector<pid_t> children;
  int error_number = 0;
  while (children.size() < kMostForks && error_number == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    if (child < 0) {
      error_number = errno;
    } else {
      children.push_back(child);
    }
  }
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return static_cast<int>(children.size()) < limit ? error_number : 0;
}

void fork_bomb(const Request& request, Result& result) {
  const int limit = request.number("processes");
  if (limit <= 0 || limit >= kMostForks) {
    result.not_applicable("so many are allowed that they are not tried; limits.processes was read");
    return;
  }
  result.refused("fork", "EAGAIN", [&] { return in_child([&] { return fork_until_refused(limit); }); });
}

constexpr std::array kChecks = {
    Check{"processes.see", "processes.own", "pid namespace", Place::anywhere, see},
    Check{"processes.environment", "processes.own", "pid namespace", Place::anywhere, environment},
    Check{"processes.memory", "processes.own", "pid namespace", Place::anywhere, memory},
    Check{"processes.signal", "processes.own", "pid namespace", Place::inside, signal_outside},
    Check{"processes.signal_init", "processes.own", "Landlock scope", Place::inside, signal_init},
    Check{"processes.trace_init", "processes.own", "not dumpable, seccomp", Place::inside, trace_init},
    Check{"processes.fork", "processes.own", "none", Place::anywhere, fork_allowed},
    Check{"syscalls.trace", "syscalls.filter", "seccomp", Place::anywhere, trace},
    Check{"syscalls.user_namespace", "syscalls.user_namespaces", "seccomp", Place::anywhere, unshare_user},
    Check{"syscalls.namespaces", "syscalls.filter", "seccomp", Place::anywhere, other_namespaces},
    Check{"syscalls.terminal_input", "syscalls.filter", "seccomp", Place::inside, terminal_input},
    Check{"devices.terminal", "devices.listed", "own session", Place::inside, terminal},
    Check{"devices.nodes", "devices.listed", "view", Place::inside, nodes},
    Check{"limits.fork_bomb", "limits.processes", "RLIMIT_NPROC", Place::inside, fork_bomb},
};

}  // namespace

std::span<const Check> process_checks() { return kChecks; }

}  // namespace cordon::probe
