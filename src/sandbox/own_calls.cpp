// SPDX-License-Identifier: Apache-2.0
#include "sandbox/own_calls.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <array>

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

}  // namespace

std::span<const std::string_view> own_calls() { return kOwnCalls; }

std::vector<CallRule> own_rules(pid_t self, Signals signals, pid_t child) {
  std::vector<CallRule> rules(kFixedRules.begin(), kFixedRules.end());
  // abort() and raise()
  rules.push_back(allow_if("tgkill", 0, kInt, static_cast<std::uint32_t>(self)));
  switch (signals) {
    case Signals::nobody:
      break;
    case Signals::child:
      rules.push_back(allow_if("kill", 0, kInt, static_cast<std::uint32_t>(child)));
      rules.push_back(allow_if("kill", 0, kInt, static_cast<std::uint32_t>(-child)));
      break;
    case Signals::anybody:
      rules.push_back({"kill", 0});
      break;
  }
  return rules;
}

}  // namespace cordon::sandbox
