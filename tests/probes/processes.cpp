// SPDX-License-Identifier: Apache-2.0
// Other processes, other namespaces, shared memory, terminals.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "probe.hpp"

namespace cordon::probe {
namespace {

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

void check_foreign(const Canaries& canaries) {
  const std::string pid_text = canaries.at("pid");
  const auto pid = static_cast<pid_t>(std::atoi(pid_text.c_str()));
  check("see_process_outside", "denied", [&] { return result_of(::access(("/proc/" + pid_text).c_str(), F_OK)); });
  check("read_environ_outside", "denied",
        [&] { return result_of(::open(("/proc/" + pid_text + "/environ").c_str(), O_RDONLY | O_CLOEXEC)); });
  check("signal_process_outside", "denied", [&] { return result_of(::kill(pid, 0)); });
  if (canaries.at("landlock") == "scopes") {
    check("signal_init", "EPERM", [] { return result_of(::kill(1, 0)); });
  }
  check("ptrace_init", "EPERM", [] { return result_of(::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr)); });
  check("ptrace_me", "EPERM", [] { return result_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); });
  char byte = 0;
  iovec local = {&byte, 1};
  check("process_vm_readv", "EPERM",
        [&] { return result_of(::process_vm_readv(::getpid(), &local, 1, &local, 1, 0)); });
  check("process_vm_writev", "EPERM",
        [&] { return result_of(::process_vm_writev(::getpid(), &local, 1, &local, 1, 0)); });
  check("pidfd_getfd", "EPERM", [] { return result_of(::syscall(438, -1, 0, 0)); });
  check("kcmp", "EPERM", [] { return result_of(::syscall(SYS_kcmp, ::getpid(), ::getpid(), 0, 0, 1)); });
  check("process_madvise", "EPERM", [] { return result_of(::syscall(440, -1, nullptr, 0, 0, 0)); });
  check("fork", "allowed", [] { return in_child([] { return 0; }); });
}

void check_namespaces() {
  struct Flag {
    const char* name;
    std::uint64_t value;
  };
  constexpr Flag kFlags[] = {{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS},  {"pid", CLONE_NEWPID},
                             {"net", CLONE_NEWNET},   {"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS},
                             {"cgroup", 0x02000000}};
  for (const Flag& flag : kFlags) {
    check(std::string("unshare_") + flag.name, "EPERM",
          [&] { return in_child([&] { return result_of(::unshare(static_cast<int>(flag.value))); }); });
    check(std::string("clone_") + flag.name, "EPERM", [&] { return clone_with(flag.value); });
  }
  check("unshare_time", "EPERM", [] { return result_of(::syscall(SYS_unshare, 0x80)); });
  check("clone_plain", "allowed", [] { return clone_with(0); });
  check("clone3", "ENOSYS", [] { return result_of(::syscall(435, nullptr, 0)); });
  check("setns", "EPERM", [] { return result_of(::syscall(SYS_setns, -1, 0)); });
}

void check_memory(const Canaries& canaries) {
  const int key = std::atoi(canaries.at("shm").c_str());
  check("attach_shared_memory_outside", "denied", [&] { return result_of(::shmget(key, 1, 0)); });
  check("own_shared_memory", "allowed", [] {
    const int id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (id >= 0) {
      ::shmctl(id, IPC_RMID, nullptr);
    }
    return result_of(id);
  });
}

void check_terminal() {
  char letter = 'x';
  check("tiocsti", "EPERM", [&] { return result_of(::ioctl(0, 0x5412, &letter)); });
  check("tiocsti_high_bits", "EPERM", [&] { return result_of(::syscall(SYS_ioctl, 0, 0x1'0000'5412, &letter)); });
  check("tioclinux", "EPERM", [&] { return result_of(::ioctl(0, 0x541c, &letter)); });
  int pending = 0;
  check("other_ioctl", "allowed", [&] { return result_of(::ioctl(0, FIONREAD, &pending)); });
  for (const char* path : {"/dev/tty", "/dev/ptmx", "/dev/console", "/dev/pts", "/dev/kmsg", "/dev/mem", "/dev/fuse",
                           "/dev/kvm", "/dev/net/tun"}) {
    check(std::string("open_") + path, "denied", [&] { return result_of(::open(path, O_RDONLY | O_CLOEXEC)); });
  }
}

void check_process_limit(const Canaries& canaries) {
  const int limit = std::atoi(canaries.at("processes").c_str());
  const int status = in_child([&] {
    int started = 0;
    int error_number = 0;
    pid_t children[512] = {};
    while (started < 512) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::pause();
        ::_exit(0);
      }
      if (child < 0) {
        error_number = errno;
        break;
      }
      children[started++] = child;
    }
    for (int i = 0; i < started; ++i) {
      ::kill(children[i], SIGKILL);
      ::waitpid(children[i], nullptr, 0);
    }
    return started < limit ? error_number : 0;
  });
  check("fork_bomb", "EAGAIN", [&] { return status; });
}

}  // namespace

void check_processes(const Canaries& canaries) {
  check_foreign(canaries);
  check_namespaces();
  check_memory(canaries);
  check_terminal();
  check_process_limit(canaries);
}

}  // namespace cordon::probe
