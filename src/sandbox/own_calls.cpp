// SPDX-License-Identifier: Apache-2.0
#include "sandbox/own_calls.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

// What the runtime of a sanitizer needs besides, in builds that have one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CORDON_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer) || \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CORDON_SANITIZED 1
#endif
#endif

namespace cordon::sandbox {
namespace {

constexpr std::uint32_t kInt = 0xffffffff;

// Measured over the end-to-end tests; the rest of each family is there for other C libraries and kernels. stat and its
// kin stay, because the log looks whether it is still at its place: they tell about names, and open nothing.
constexpr std::string_view kOwnCalls[] = {
    // bytes
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "recvfrom",
    "recvmsg",
    "sendmsg",
    "lseek",
    "close",
    "fdatasync",
    "fsync",
    // waiting
    "poll",
    "ppoll",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_ctl",
    "futex",
    "nanosleep",
    "clock_nanosleep",
    "timerfd_settime",
    "timerfd_gettime",
    "restart_syscall",
    "sched_yield",
    "wait4",
    "waitid",
    "select",
    "pselect6",
    // what is open, and what the log is called
    "fstat",
    "newfstatat",
    "statx",
    "lstat",
    "stat",
    // memory, never to be executed: mmap and mprotect below
    "brk",
    "munmap",
    "mremap",
    "madvise",
    "membarrier",
    // signals and the end
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "exit",
    "exit_group",
    // questions about ourselves
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "getpid",
    "getppid",
    "gettid",
    "getpgid",
    "getpgrp",
    "getsid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getrandom",
    "getrusage",
    "sysinfo",
    "uname",
    "capget",
    "sched_getaffinity",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    // loop and pipes, which libraries make late
    "pipe2",
    "eventfd2",
    "epoll_create1",
    "timerfd_create",
#ifdef CORDON_SANITIZED
    "readlink",
    "getrlimit",
    "prlimit64",
#endif
};

constexpr CallRule allow_if(std::string_view name, std::uint8_t argument, std::uint32_t mask, std::uint32_t value) {
  return {name, 0, 1, {{{argument, mask, value}}}};
}

constexpr std::array kFixedRules = {
    allow_if("mmap", 2, PROT_EXEC, 0),
    allow_if("mprotect", 2, PROT_EXEC, 0),
    // Not F_SETOWN, which makes the kernel send signals; nor what moves locks.
    allow_if("fcntl", 1, kInt, F_GETFL),
    allow_if("fcntl", 1, kInt, F_SETFL),
    allow_if("fcntl", 1, kInt, F_GETFD),
    allow_if("fcntl", 1, kInt, F_SETFD),
    allow_if("ioctl", 1, kInt, FIONBIO),
    allow_if("ioctl", 1, kInt, FIONREAD),
    allow_if("ioctl", 1, kInt, TCGETS),
    allow_if("prctl", 0, kInt, PR_SET_CHILD_SUBREAPER),
    allow_if("prctl", 0, kInt, PR_GET_CHILD_SUBREAPER),
    allow_if("prctl", 0, kInt, PR_GET_DUMPABLE),
    allow_if("prctl", 0, kInt, PR_GET_NO_NEW_PRIVS),
    allow_if("prctl", 0, kInt, PR_GET_SECCOMP),
};

constexpr std::string_view kHostCalls[] = {
    "accept4", "connect", "shutdown", "getsockname", "getsockopt", "setsockopt", "socketpair", "sendto", "sendmmsg",
    "bind",  // netlink, and UDP; nothing can listen
};

// clone() for threads only: a process of its own would have neither of these.
constexpr std::uint32_t kThread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
constexpr std::uint32_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// Unix sockets are not among them: no service of this host is asked.
constexpr std::array kHostRules = {
    CallRule{"socket", 0, 2, {{{0, kInt, AF_INET}, {1, 0xf, SOCK_STREAM}}}},
    CallRule{"socket", 0, 2, {{{0, kInt, AF_INET}, {1, 0xf, SOCK_DGRAM}}}},
    CallRule{"socket", 0, 2, {{{0, kInt, AF_INET6}, {1, 0xf, SOCK_STREAM}}}},
    CallRule{"socket", 0, 2, {{{0, kInt, AF_INET6}, {1, 0xf, SOCK_DGRAM}}}},
    CallRule{"socket", 0, 2, {{{0, kInt, AF_NETLINK}, {2, kInt, 0}}}},  // NETLINK_ROUTE: getaddrinfo asks what there is
    CallRule{"clone", 0, 1, {{{0, kThread | kNamespaces, kThread}}}},
    CallRule{"clone3", ENOSYS},  // its flags lie in memory; the C library then takes clone
    CallRule{"fcntl", 0, 1, {{{1, kInt, F_DUPFD_CLOEXEC}}}},
};
constexpr CallRule kReadFile = {
    "openat", 0, 1, {{{2, O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | (O_TMPFILE & ~O_DIRECTORY), O_RDONLY}}}};

}  // namespace

std::span<const std::string_view> host_calls() { return kHostCalls; }

std::vector<CallRule> host_rules(bool read_files) {
  std::vector<CallRule> rules(kHostRules.begin(), kHostRules.end());
  if (read_files) {
    rules.push_back(kReadFile);
  }
  return rules;
}

std::vector<CallRule> look_rules() {
  return {allow_if("openat", 2, kInt, O_PATH | O_NOFOLLOW | O_CLOEXEC), {"readlinkat", 0}, {"fstatfs", 0}};
}

std::span<const std::string_view> own_calls() { return kOwnCalls; }

std::vector<CallRule> own_rules(pid_t self, Signals signals, std::span<const pid_t> children) {
  std::vector<CallRule> rules(kFixedRules.begin(), kFixedRules.end());
  // abort() and raise()
  rules.push_back(allow_if("tgkill", 0, kInt, static_cast<std::uint32_t>(self)));
  switch (signals) {
    case Signals::nobody:
      break;
    case Signals::child:
      for (const pid_t child : children) {
        rules.push_back(allow_if("kill", 0, kInt, static_cast<std::uint32_t>(child)));
        rules.push_back(allow_if("kill", 0, kInt, static_cast<std::uint32_t>(-child)));
      }
      break;
    case Signals::anybody:
      rules.push_back({"kill", 0});
      break;
  }
  return rules;
}

}  // namespace cordon::sandbox
