// SPDX-License-Identifier: Apache-2.0
#include "sandbox/syscalls.hpp"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

namespace cordon::sandbox {
namespace {

constexpr std::uint32_t kInt = 0xffffffff;
constexpr std::uint32_t kSetId = S_ISUID | S_ISGID;

// Not in the list, on purpose: ptrace, process_vm_*, pidfd_getfd, kcmp, process_madvise (other processes); bpf,
// perf_event_open, userfaultfd, io_uring_*, keyctl family, mbind family, vmsplice, modify_ldt, name_to_handle_at,
// memfd_secret (kernel surface); mount family, chroot, setns, unshare, fanotify (view); clocks, modules, kexec, acct,
// quotactl, syslog, swapon, reboot, sethostname (the machine).
// (Not std::array: deducing its size from this many is beyond clang's depth of folding.)
constexpr std::string_view kAllowed[] = {
// clang-format off
#define CALL(name) std::string_view(#name)
    CALL(accept), CALL(accept4), CALL(access), CALL(alarm), CALL(arch_prctl), CALL(bind), CALL(brk),     CALL(capget), CALL(capset), CALL(chdir), CALL(chown), CALL(clock_getres), CALL(clock_gettime),
    CALL(clock_nanosleep), CALL(close), CALL(close_range), CALL(connect), CALL(copy_file_range), CALL(dup), CALL(dup2),
    CALL(dup3), CALL(epoll_create), CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_ctl_old), CALL(epoll_pwait),
    CALL(epoll_pwait2), CALL(epoll_wait), CALL(epoll_wait_old), CALL(eventfd), CALL(eventfd2), CALL(execve),
    CALL(execveat), CALL(exit), CALL(exit_group), CALL(faccessat), CALL(faccessat2), CALL(fadvise64), CALL(fallocate),
    CALL(fchdir), CALL(fchown), CALL(fchownat), CALL(fcntl), CALL(fdatasync), CALL(fgetxattr), CALL(flistxattr),
    CALL(flock), CALL(fork), CALL(fremovexattr), CALL(fsetxattr), CALL(fstat), CALL(fstatfs), CALL(fsync),
    CALL(ftruncate), CALL(futex), CALL(futex_waitv), CALL(futimesat), CALL(get_robust_list), CALL(get_thread_area),
    CALL(getcpu), CALL(getcwd), CALL(getdents), CALL(getdents64), CALL(getegid), CALL(geteuid), CALL(getgid),
    CALL(getgroups), CALL(getitimer), CALL(getpeername), CALL(getpgid), CALL(getpgrp), CALL(getpid), CALL(getppid),
    CALL(getpriority), CALL(getrandom), CALL(getresgid), CALL(getresuid), CALL(getrlimit), CALL(getrusage),
    CALL(getsid), CALL(getsockname), CALL(getsockopt), CALL(gettid), CALL(gettimeofday), CALL(getuid), CALL(getxattr),
    CALL(inotify_add_watch), CALL(inotify_init), CALL(inotify_init1), CALL(inotify_rm_watch), CALL(io_cancel),
    CALL(io_destroy), CALL(io_getevents), CALL(io_pgetevents), CALL(io_setup), CALL(io_submit), 
    CALL(ioprio_get), CALL(ioprio_set), CALL(kill), CALL(landlock_add_rule), CALL(landlock_create_ruleset),
    CALL(landlock_restrict_self), CALL(lchown), CALL(lgetxattr), CALL(link), CALL(linkat), CALL(listen),
    CALL(listxattr), CALL(llistxattr), CALL(lremovexattr), CALL(lseek), CALL(lsetxattr), CALL(lstat), CALL(madvise),
    CALL(membarrier), CALL(memfd_create), CALL(mincore), CALL(mkdir), CALL(mkdirat), CALL(mlock), CALL(mlock2),
    CALL(mlockall), CALL(mmap), CALL(mprotect), CALL(mq_getsetattr), CALL(mq_notify), CALL(mq_open),
    CALL(mq_timedreceive), CALL(mq_timedsend), CALL(mq_unlink), CALL(mremap), CALL(msgctl), CALL(msgget), CALL(msgrcv),
    CALL(msgsnd), CALL(msync), CALL(munlock), CALL(munlockall), CALL(munmap), CALL(nanosleep), CALL(newfstatat),
    CALL(pause), CALL(pidfd_open), CALL(pidfd_send_signal), CALL(pipe), CALL(pipe2), CALL(pkey_alloc),
    CALL(pkey_free), CALL(pkey_mprotect), CALL(poll), CALL(ppoll), CALL(prctl), CALL(pread64), CALL(preadv),
    CALL(preadv2), CALL(process_mrelease), CALL(pselect6), CALL(pwrite64), CALL(pwritev),
    CALL(pwritev2), CALL(read), CALL(readahead), CALL(readlink), CALL(readlinkat), CALL(readv), CALL(recvfrom),
    CALL(recvmmsg), CALL(recvmsg), CALL(remap_file_pages), CALL(removexattr), CALL(rename), CALL(renameat),
    CALL(restart_syscall), CALL(rmdir), CALL(rseq), CALL(rt_sigaction), CALL(rt_sigpending),
    CALL(rt_sigprocmask), CALL(rt_sigqueueinfo), CALL(rt_sigreturn), CALL(rt_sigsuspend), CALL(rt_sigtimedwait),
    CALL(rt_tgsigqueueinfo), CALL(sched_get_priority_max), CALL(sched_get_priority_min), CALL(sched_getaffinity),
    CALL(sched_getattr), CALL(sched_getparam), CALL(sched_getscheduler), CALL(sched_rr_get_interval),
    CALL(sched_setaffinity), CALL(sched_setattr), CALL(sched_setparam), CALL(sched_setscheduler), CALL(sched_yield),
    CALL(seccomp), CALL(select), CALL(semctl), CALL(semget), CALL(semop), CALL(semtimedop), CALL(sendfile),
    CALL(sendmmsg), CALL(sendmsg), CALL(sendto), CALL(set_robust_list), CALL(set_thread_area), CALL(set_tid_address),
    CALL(setfsgid), CALL(setfsuid), CALL(setgid), CALL(setgroups), CALL(setitimer), CALL(setpgid), CALL(setpriority),
    CALL(setregid), CALL(setresgid), CALL(setresuid), CALL(setreuid), CALL(setsid),
    CALL(setsockopt), CALL(setuid), CALL(setxattr), CALL(shmat), CALL(shmctl), CALL(shmdt), CALL(shmget),
    CALL(shutdown), CALL(sigaltstack), CALL(signalfd), CALL(signalfd4), CALL(splice), CALL(stat), CALL(statfs),
    CALL(statx), CALL(symlink), CALL(symlinkat), CALL(sync), CALL(sync_file_range), CALL(syncfs), CALL(sysinfo),
    CALL(tee), CALL(tgkill), CALL(time), CALL(timer_create), CALL(timer_delete), CALL(timer_getoverrun),
    CALL(timer_gettime), CALL(timer_settime), CALL(timerfd_create), CALL(timerfd_gettime), CALL(timerfd_settime),
    CALL(times), CALL(tkill), CALL(truncate), CALL(umask), CALL(uname), CALL(unlink), CALL(unlinkat), CALL(utime),
    CALL(utimensat), CALL(utimes), CALL(vfork), CALL(wait4), CALL(waitid), CALL(write), CALL(writev),
#undef CALL
    // clang-format on
};

// Every CLONE_NEW* that clone() takes; CLONE_NEWTIME (0x80) is part of the exit signal there.
constexpr std::uint32_t kNewNamespaces = 0x7e020000;

// O_TMPFILE contains O_DIRECTORY, which alone creates nothing.
constexpr std::uint32_t kCreates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);

constexpr std::uint32_t kWhiteout = 1 << 2;  // RENAME_WHITEOUT

constexpr CallRule allow_if(std::string_view name, std::uint8_t argument, std::uint32_t mask, std::uint32_t value) {
  return {name, 0, 1, {{{argument, mask, value}}}};
}

constexpr CallRule allow_mode(std::string_view name, std::uint8_t argument) {
  return allow_if(name, argument, kSetId, 0);
}

constexpr CallRule allow_node(std::string_view name, std::uint8_t argument, std::uint32_t type) {
  return allow_if(name, argument, S_IFMT | kSetId, type);
}

constexpr std::uint32_t kSocketType = 0xf;  // the rest are SOCK_CLOEXEC and SOCK_NONBLOCK

constexpr CallRule allow_socket(std::uint32_t family, std::uint32_t type, std::uint32_t protocol) {
  return {"socket", 0, 3, {{{0, kInt, family}, {1, kSocketType, type}, {2, kInt, protocol}}}};
}

constexpr CallRule always(std::string_view name, Verdict verdict) { return {name, verdict}; }

constexpr CallRule only_if_not_core(std::string_view name, std::uint8_t argument) {
  return {name, EINVAL, 1, {{{argument, kInt, RLIMIT_CORE}}}};
}

constexpr CallRule numbered(std::string_view name, int number) { return {name, 0, 0, {}, number}; }

constexpr std::array kRules = {
    allow_if("clone", 0, kNewNamespaces, 0),
    // Set-id bits would make a file someone else's program outside (root's, when owners are mapped).
    allow_mode("chmod", 1),
    allow_mode("fchmod", 1),
    allow_mode("fchmodat", 2),
    CallRule{"fchmodat2", 0, 1, {{{2, kSetId, 0}}}, 452},
    allow_mode("creat", 1),
    // The mode counts only where a file can come into being; elsewhere it may be left-over bits of a register.
    allow_if("open", 1, kCreates, 0),
    allow_mode("open", 2),
    allow_if("openat", 2, kCreates, 0),
    allow_mode("openat", 3),
    allow_node("mknod", 1, 0),
    allow_node("mknod", 1, S_IFREG),
    allow_node("mknod", 1, S_IFIFO),
    allow_node("mknod", 1, S_IFSOCK),
    allow_node("mknodat", 2, 0),
    allow_node("mknodat", 2, S_IFREG),
    allow_node("mknodat", 2, S_IFIFO),
    allow_node("mknodat", 2, S_IFSOCK),
    // A whiteout is a character device, and the one that can be made without mknod.
    allow_if("renameat2", 4, kWhiteout, 0),
    // They put text into a terminal's input; compared by 32 bits, as the kernel does.
    CallRule{"ioctl", EPERM, 1, {{{1, kInt, TIOCSTI}}}},
    CallRule{"ioctl", EPERM, 1, {{{1, kInt, TIOCLINUX}}}},
    // A snapshot is of a whole subvolume, however little of it a grant shows.
    CallRule{"ioctl", EPERM, 1, {{{1, kInt, BTRFS_IOC_SNAP_CREATE}}}},
    CallRule{"ioctl", EPERM, 1, {{{1, kInt, BTRFS_IOC_SNAP_CREATE_V2}}}},
    always("ioctl", 0),
    // A limit of 1 alone keeps the kernel from starting the machine's handler of core dumps, which is root's and
    // outside; with 0 it is started. EINVAL, because programs that protect secrets take it for a system without the
    // limit.
    only_if_not_core("setrlimit", 0),
    always("setrlimit", 0),
    only_if_not_core("prlimit64", 1),
    always("prlimit64", 0),
    // Asking which personality it is; setting one can switch address randomisation off.
    allow_if("personality", 0, kInt, kInt),
    // Families are listed with type and protocol: others autoload kernel modules, and AF_VSOCK reaches the host.
    allow_if("socket", 0, kInt, AF_UNIX),
    allow_socket(AF_INET, SOCK_STREAM, 0),
    allow_socket(AF_INET, SOCK_STREAM, IPPROTO_TCP),
    allow_socket(AF_INET, SOCK_DGRAM, 0),
    allow_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP),
    allow_socket(AF_INET6, SOCK_STREAM, 0),
    allow_socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP),
    allow_socket(AF_INET6, SOCK_DGRAM, 0),
    allow_socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
    // NETLINK_ROUTE (0) is how libc lists interfaces.
    allow_socket(AF_NETLINK, SOCK_RAW, 0),
    allow_socket(AF_NETLINK, SOCK_DGRAM, 0),
    CallRule{"socket", EPERM, 1, {{{0, kInt, AF_INET}}}},
    CallRule{"socket", EPERM, 1, {{{0, kInt, AF_INET6}}}},
    always("socket", EAFNOSUPPORT),
    allow_if("socketpair", 0, kInt, AF_UNIX),
    always("socketpair", EAFNOSUPPORT),
    numbered("cachestat", 451),
    numbered("map_shadow_stack", 453),
    numbered("futex_wake", 454),
    numbered("futex_wait", 455),
    numbered("futex_requeue", 456),
    numbered("mseal", 462),
};

// What Chromium's sandbox does before it has one, and its kin: a user namespace, with it a pid and a network namespace,
// and an empty root. What it gains there are capabilities over those three only; every call that would use them on the
// view (mount family, setns, pivot_root) stays off the list, and so do mount, ipc, uts, cgroup and time namespaces.
constexpr std::uint32_t kNestable = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::uint32_t kNewTime = 0x80;  // CLONE_NEWTIME: for unshare only

constexpr CallRule refuse_option(std::uint32_t level, std::uint32_t option) {
  // Reading and writing packet filter tables: two neighbouring numbers each.
  return {"setsockopt", EPERM, 2, {{{1, kInt, level}, {2, kInt & ~1U, option}}}};
}

constexpr std::array kNestedRules = {
    allow_if("clone", 0, kNewNamespaces & ~kNestable, 0),
    allow_if("unshare", 0, (kNewNamespaces & ~kNestable) | kNewTime, 0),
    always("chroot", 0),
    // CAP_NET_ADMIN over a network namespace of its own would reach code that nothing else here does: the tables of
    // iptables, ip6tables, arptables and ebtables.
    refuse_option(IPPROTO_IP, 64),
    refuse_option(IPPROTO_IPV6, 64),
    refuse_option(IPPROTO_IP, 96),
    refuse_option(IPPROTO_IP, 128),
    always("setsockopt", 0),
    // CAP_SETFCAP there is enough to give a file capabilities, and where owners are mapped these are written down as
    // root's: whoever executed the file outside would have them. A filter cannot see which attribute is meant.
    always("setxattr", EOPNOTSUPP),
    always("lsetxattr", EOPNOTSUPP),
    always("fsetxattr", EOPNOTSUPP),
};

constexpr CallRule allow_kind(std::string_view name, std::uint32_t type) {
  return {name, 0, 2, {{{0, kInt, AF_UNIX}, {1, kSocketType, type}}}};
}

// Found by measurement: the reference servers under node and python run without these. Sockets but a connected pair,
// System V and POSIX queues and segments, watching files, asynchronous I/O, files without a name (and with them
// programs out of memory), restrictions of one's own, real-time scheduling, devices and FIFOs, other processes by
// descriptor.
constexpr std::array kStrictRules = {
    allow_kind("socketpair", SOCK_STREAM),
    allow_kind("socketpair", SOCK_SEQPACKET),
    always("socketpair", EAFNOSUPPORT),
    always("socket", EAFNOSUPPORT),
    always("accept", EPERM),
    always("accept4", EPERM),
    always("bind", EPERM),
    always("connect", EPERM),
    always("listen", EPERM),
    always("msgctl", EPERM),
    always("msgget", EPERM),
    always("msgrcv", EPERM),
    always("msgsnd", EPERM),
    always("semctl", EPERM),
    always("semget", EPERM),
    always("semop", EPERM),
    always("semtimedop", EPERM),
    always("shmat", EPERM),
    always("shmctl", EPERM),
    always("shmdt", EPERM),
    always("shmget", EPERM),
    always("mq_getsetattr", EPERM),
    always("mq_notify", EPERM),
    always("mq_open", EPERM),
    always("mq_timedreceive", EPERM),
    always("mq_timedsend", EPERM),
    always("mq_unlink", EPERM),
    always("inotify_add_watch", EPERM),
    always("inotify_init", EPERM),
    always("inotify_init1", EPERM),
    always("inotify_rm_watch", EPERM),
    always("io_cancel", EPERM),
    always("io_destroy", EPERM),
    always("io_getevents", EPERM),
    always("io_pgetevents", EPERM),
    always("io_setup", EPERM),
    always("io_submit", EPERM),
    always("ioprio_set", EPERM),
    always("landlock_add_rule", EPERM),
    always("landlock_create_ruleset", EPERM),
    always("landlock_restrict_self", EPERM),
    always("memfd_create", EPERM),
    always("execveat", EPERM),
    always("mknod", EPERM),
    always("mknodat", EPERM),
    always("mlockall", EPERM),
    always("personality", EPERM),
    always("pidfd_open", EPERM),
    always("pidfd_send_signal", EPERM),
    always("process_mrelease", EPERM),
    always("remap_file_pages", EPERM),
    always("sched_setattr", EPERM),
    always("sched_setparam", EPERM),
    always("sched_setscheduler", EPERM),
    always("seccomp", EPERM),
    always("splice", EPERM),
    always("tee", EPERM),
};

constexpr std::size_t kPairRules = 2;
constexpr std::array kUnixRules = {
    allow_kind("socketpair", SOCK_STREAM), allow_kind("socketpair", SOCK_SEQPACKET),
    allow_kind("socket", SOCK_STREAM),     allow_kind("socket", SOCK_SEQPACKET),
    always("connect", kAskInit),
};

constexpr CallRule never(std::string_view name) { return {name, EPERM}; }

constexpr CallRule only_for_itself(std::string_view name) { return allow_if(name, 0, kInt, 0); }

constexpr std::uint32_t kIoprioProcess = 1;  // IOPRIO_WHO_PROCESS

constexpr std::array kSharedRules = {
    // Whatever a socket is of, it reaches the machine's network or somebody's socket.
    always("socket", EAFNOSUPPORT),
    never("connect"),
    never("bind"),
    allow_kind("socketpair", SOCK_STREAM),
    allow_kind("socketpair", SOCK_SEQPACKET),
    always("socketpair", EAFNOSUPPORT),
    never("shmget"),
    never("shmat"),
    never("shmctl"),
    never("semget"),
    never("semop"),
    never("semctl"),
    never("semtimedop"),
    never("msgget"),
    never("msgsnd"),
    never("msgrcv"),
    never("msgctl"),
    never("mq_open"),
    never("mq_unlink"),
    never("mq_timedsend"),
    never("mq_timedreceive"),
    never("mq_notify"),
    never("mq_getsetattr"),
    // Landlock does not judge attributes, and whoever runs as the user owns the user's files.
    never("chmod"),
    never("fchmod"),
    never("fchmodat"),
    CallRule{"fchmodat2", EPERM, 0, {}, 452},
    never("chown"),
    never("fchown"),
    never("lchown"),
    never("fchownat"),
    never("utime"),
    never("utimes"),
    never("futimesat"),
    never("utimensat"),
    never("setxattr"),
    never("lsetxattr"),
    never("fsetxattr"),
    never("removexattr"),
    never("lremovexattr"),
    never("fremovexattr"),
    // Nor does it judge the reading of them by name, and some hold content (where a file was fetched from). What a
    // program has open it may ask about.
    always("getxattr", EOPNOTSUPP),
    always("lgetxattr", EOPNOTSUPP),
    always("listxattr", EOPNOTSUPP),
    always("llistxattr", EOPNOTSUPP),
    // Of every process with the same uid, if it were not for this.
    only_if_not_core("prlimit64", 1),
    only_for_itself("prlimit64"),
    only_for_itself("sched_setaffinity"),
    only_for_itself("sched_setattr"),
    only_for_itself("sched_setparam"),
    only_for_itself("sched_setscheduler"),
    CallRule{"setpriority", 0, 2, {{{0, kInt, 0}, {1, kInt, 0}}}},
    CallRule{"ioprio_set", 0, 2, {{{0, kInt, kIoprioProcess}, {1, kInt, 0}}}},
};

constexpr std::array<std::string_view, 2> kAbsent = {"clone3", "openat2"};

}  // namespace

std::span<const std::string_view> allowed_calls() { return kAllowed; }
std::span<const CallRule> rules() { return kRules; }
std::span<const CallRule> nested_userns_rules() { return kNestedRules; }
std::span<const CallRule> strict_rules() { return kStrictRules; }

std::string_view name(UnixSockets sockets) {
  switch (sockets) {
    case UnixSockets::allowed:
      return "allowed";
    case UnixSockets::refused:
      return "refused";
    case UnixSockets::supervised:
      return "supervised";
  }
  return "refused";
}

bool is_unix_socket_rule(const CallRule& rule) {
  return (rule.name == "socket" || rule.name == "socketpair") && rule.tests > 0 && rule.test[0].value == AF_UNIX;
}

std::span<const CallRule> unix_socket_rules(UnixSockets sockets) {
  switch (sockets) {
    case UnixSockets::allowed:
      return {};
    case UnixSockets::refused:
      return std::span(kUnixRules).first(kPairRules);
    case UnixSockets::supervised:
      return kUnixRules;
  }
  return {};
}

std::span<const CallRule> shared_rules() { return kSharedRules; }
std::span<const std::string_view> absent_calls() { return kAbsent; }

}  // namespace cordon::sandbox
