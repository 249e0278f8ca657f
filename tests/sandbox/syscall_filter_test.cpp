// SPDX-License-Identifier: Apache-2.0
// The filter program is run here by a small interpreter, so that every answer can be looked at without a kernel.
#include "sandbox/syscall_filter.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "sandbox/syscalls.hpp"

using namespace cordon::sandbox;

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64;
#endif

using Filter = std::vector<sock_filter>;

const Filter& ordinary() {
  static const Filter code = build_filter().value();
  return code;
}
const Filter& nested() {
  static const Filter code = build_filter({.nested_userns = true}).value();
  return code;
}
const Filter& shared() {
  static const Filter code = build_filter({}, UnixSockets::refused, Surroundings::shared).value();
  return code;
}
const Filter& strict() {
  static const Filter code = build_filter({.strict = true}).value();
  return code;
}

// Classic BPF, as far as the program uses it; anything else, and any step outside, is a failure of the test.
std::uint32_t run(const Filter& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  std::size_t at = 0;
  for (;;) {
    REQUIRE(at < program.size());
    const sock_filter& step = program[at++];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        REQUIRE(step.k + sizeof accumulator <= sizeof data);
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k, sizeof accumulator);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= step.k;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += accumulator >= step.k ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        FAIL("unexpected instruction ", step.code);
    }
  }
}

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t error(int number) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number); }

using Arguments = std::initializer_list<std::uint64_t>;

std::uint32_t answer_of(const Filter& program, long number, Arguments arguments = {}, std::uint32_t arch = kArch) {
  seccomp_data data = {};
  data.nr = static_cast<int>(number);
  data.arch = arch;
  std::size_t i = 0;
  for (const std::uint64_t argument : arguments) {
    data.args[i++] = argument;
  }
  return run(program, data);
}

std::uint32_t shared_answer(long number, Arguments arguments = {}) { return answer_of(shared(), number, arguments); }

std::uint32_t answer(long number, Arguments arguments = {}, std::uint32_t arch = kArch) {
  return answer_of(ordinary(), number, arguments, arch);
}

// libseccomp knows names of other architectures, too, with negative numbers of their own; -1 is no name.
bool seccomp_known(std::string_view name) { return call_number(name) != -1; }

constexpr std::uint64_t kGarbage = 0xdead'beef'0000'0000;  // upper halves of int arguments mean nothing

}  // namespace

TEST_CASE("calls of a foreign architecture kill") {
  CHECK(answer(SYS_read, {}, AUDIT_ARCH_I386) == kKill);
  CHECK(answer(SYS_read, {}, 0) == kKill);
#if defined(__x86_64__)
  CHECK(answer(0x40000000 | SYS_read) == kKill);
  CHECK(answer(0x40000000 | 1000) == kKill);
#endif
}

TEST_CASE("numbers above the table are answered as by an older kernel") {
  for (const long number : {457L, 458L, 467L, 600L, 0x3fffffffL, -1L}) {
    CHECK(answer(number) == error(ENOSYS));
  }
  CHECK(answer(462) == kAllow);  // mseal, allowed by number
}

TEST_CASE("calls whose arguments lie in memory are answered as absent") {
  CHECK(answer(435) == error(ENOSYS));  // clone3
  CHECK(answer(437) == error(ENOSYS));  // openat2
}

TEST_CASE("every listed call is let through and every other one in the table is not") {
  std::vector<bool> listed(static_cast<std::size_t>(kTableEnd) + 1);
  for (const std::string_view name : allowed_calls()) {
    if (const int number = call_number(name); number >= 0 && number <= kTableEnd) {
      listed[static_cast<std::size_t>(number)] = true;
      CHECK_MESSAGE(answer(number, {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL}) == kAllow, name);
    }
  }
  for (const std::string_view name : absent_calls()) {
    listed[static_cast<std::size_t>(call_number(name))] = true;
  }
  for (const CallRule& rule : rules()) {
    const int number = rule.number >= 0 ? rule.number : call_number(rule.name);
    if (number >= 0 && number <= kTableEnd) {
      CHECK_MESSAGE(!listed[static_cast<std::size_t>(number)], "both listed and ruled: ", rule.name);
    }
  }
  for (const CallRule& rule : rules()) {
    if (const int number = call_number(rule.name); number >= 0 && number <= kTableEnd) {
      listed[static_cast<std::size_t>(number)] = true;
    }
  }
  for (int number = 0; number <= kTableEnd; ++number) {
    if (!listed[static_cast<std::size_t>(number)]) {
      CHECK_MESSAGE(answer(number) == error(EPERM), "call ", number);
    }
  }
}

TEST_CASE("the calls that reach out of a sandbox are on no list") {
  for (const char* name : {"ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "pidfd_getfd",
                           "kcmp",
                           "process_madvise",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "io_uring_setup",
                           "io_uring_enter",
                           "io_uring_register",
                           "keyctl",
                           "add_key",
                           "request_key",
                           "mount",
                           "umount2",
                           "pivot_root",
                           "chroot",
                           "setns",
                           "unshare",
                           "open_tree",
                           "move_mount",
                           "fsopen",
                           "fsconfig",
                           "fsmount",
                           "fspick",
                           "mount_setattr",
                           "init_module",
                           "finit_module",
                           "delete_module",
                           "kexec_load",
                           "reboot",
                           "swapon",
                           "acct",
                           "quotactl",
                           "syslog",
                           "clock_settime",
                           "settimeofday",
                           "sethostname",
                           "name_to_handle_at",
                           "open_by_handle_at",
                           "fanotify_init",
                           "mbind",
                           "move_pages",
                           "memfd_secret",
                           "vmsplice",
                           "iopl",
                           "ioperm",
                           "modify_ldt"}) {
    const int number = call_number(name);
    if (number >= 0) {
      CHECK_MESSAGE(answer(number) == error(EPERM), name);
    }
  }
}

TEST_CASE("clone makes threads and processes but no namespace") {
  constexpr std::uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                    CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  CHECK(answer(SYS_clone, {kThread}) == kAllow);
  CHECK(answer(SYS_clone, {CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | 17}) == kAllow);
  for (const int new_namespace :
       {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    const auto flag = static_cast<std::uint64_t>(new_namespace);
    CHECK(answer(SYS_clone, {flag | 17}) == error(EPERM));
    CHECK(answer(SYS_clone, {flag | kThread | kGarbage}) == error(EPERM));
  }
}

TEST_CASE("ioctl requests are compared by 32 bits") {
  CHECK(answer(SYS_ioctl, {0, 0x5412}) == error(EPERM));
  CHECK(answer(SYS_ioctl, {0, 0x5412 | kGarbage}) == error(EPERM));
  CHECK(answer(SYS_ioctl, {0, 0x541c | kGarbage}) == error(EPERM));
  CHECK(answer(SYS_ioctl, {0, 0x50009401}) == error(EPERM));  // btrfs snapshots
  CHECK(answer(SYS_ioctl, {0, 0x50009417}) == error(EPERM));
  CHECK(answer(SYS_ioctl, {0, 0x541b}) == kAllow);
  CHECK(answer(SYS_ioctl, {0, 0x5413}) == kAllow);
}

TEST_CASE("sockets are of the listed families, types and protocols") {
  CHECK(answer(SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0}) == kAllow);
  CHECK(answer(SYS_socket, {AF_INET | kGarbage, SOCK_STREAM | SOCK_NONBLOCK | kGarbage, 6 | kGarbage}) == kAllow);
  CHECK(answer(SYS_socket, {AF_INET6, SOCK_DGRAM, 17}) == kAllow);
  CHECK(answer(SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}) == kAllow);
  CHECK(answer(SYS_socket, {AF_NETLINK, SOCK_RAW, 9}) == error(EAFNOSUPPORT));
  CHECK(answer(SYS_socket, {AF_INET, SOCK_RAW, 1}) == error(EPERM));
  CHECK(answer(SYS_socket, {AF_INET, SOCK_STREAM, 132}) == error(EPERM));
  CHECK(answer(SYS_socket, {AF_INET6, SOCK_RAW, 58}) == error(EPERM));
  for (std::uint64_t family = 0; family < 64; ++family) {
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK) {
      CHECK(answer(SYS_socket, {family, SOCK_STREAM, 0}) == error(EAFNOSUPPORT));
      CHECK(answer(SYS_socketpair, {family, SOCK_STREAM, 0}) == error(EAFNOSUPPORT));
    }
  }
  CHECK(answer(SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0}) == kAllow);
}

TEST_CASE("set-id bits are refused wherever a call can set them") {
  for (const std::uint64_t bits : {04000U, 02000U, 06000U}) {
    CHECK(answer(SYS_fchmod, {3, 0755 | bits | kGarbage}) == error(EPERM));
    CHECK(answer(SYS_fchmodat, {0, 0, 0755 | bits}) == error(EPERM));
    CHECK(answer(452, {0, 0, 0755 | bits}) == error(EPERM));
    CHECK(answer(SYS_openat, {0, 0, O_CREAT | O_WRONLY, 0600 | bits}) == error(EPERM));
    CHECK(answer(SYS_openat, {0, 0, O_TMPFILE | O_WRONLY, 0600 | bits}) == error(EPERM));
    CHECK(answer(SYS_openat, {0, 0, O_RDONLY | O_DIRECTORY, 0600 | bits}) == kAllow);
    CHECK(answer(SYS_mknodat, {0, 0, S_IFREG | 0600 | bits}) == error(EPERM));
#if defined(__x86_64__)
    CHECK(answer(SYS_chmod, {0, 0755 | bits}) == error(EPERM));
    CHECK(answer(SYS_open, {0, O_CREAT, 0600 | bits}) == error(EPERM));
    CHECK(answer(SYS_creat, {0, 0600 | bits}) == error(EPERM));
    CHECK(answer(SYS_mknod, {0, S_IFIFO | bits}) == error(EPERM));
#endif
  }
  CHECK(answer(SYS_fchmod, {3, 01777}) == kAllow);
  CHECK(answer(SYS_openat, {0, 0, O_CREAT | O_WRONLY, 0644}) == kAllow);
  CHECK(answer(SYS_mknodat, {0, 0, S_IFCHR | 0600}) == error(EPERM));
  CHECK(answer(SYS_mknodat, {0, 0, S_IFBLK | 0600}) == error(EPERM));
  CHECK(answer(SYS_mknodat, {0, 0, S_IFSOCK | 0600}) == kAllow);
}

TEST_CASE("a rename makes no whiteout") {
  for (const std::uint64_t flags : {0U, 1U, 2U}) {
    CHECK(answer(SYS_renameat2, {0, 0, 0, 0, flags}) == kAllow);
    CHECK(answer(SYS_renameat2, {0, 0, 0, 0, flags | 4U}) == error(EPERM));
    CHECK(answer(SYS_renameat2, {0, 0, 0, 0, flags | 4U | kGarbage}) == error(EPERM));
  }
}

TEST_CASE("personality can be asked for but not set") {
  CHECK(answer(SYS_personality, {0xffffffff}) == kAllow);
  CHECK(answer(SYS_personality, {0x0040000}) == error(EPERM));
  CHECK(answer(SYS_personality, {0}) == error(EPERM));
}

TEST_CASE("the limit of core dumps is neither asked for nor set, all others are") {
  for (const Filter& code : {ordinary(), nested(), strict()}) {
    CHECK(answer_of(code, SYS_setrlimit, {RLIMIT_CORE | kGarbage}) == error(EINVAL));
    CHECK(answer_of(code, SYS_prlimit64, {0, RLIMIT_CORE | kGarbage}) == error(EINVAL));
    CHECK(answer_of(code, SYS_setrlimit, {RLIMIT_NOFILE}) == kAllow);
    CHECK(answer_of(code, SYS_prlimit64, {RLIMIT_CORE, RLIMIT_NOFILE}) == kAllow);
  }
  CHECK(shared_answer(SYS_prlimit64, {0, RLIMIT_CORE}) == error(EINVAL));
}

TEST_CASE("with nested user namespaces just these, with a pid and a network namespace, can be made") {
  for (const int one : {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET}) {
    const auto allowed = static_cast<std::uint64_t>(one);
    CHECK(answer_of(nested(), SYS_clone, {allowed | 17}) == kAllow);
    CHECK(answer_of(nested(), SYS_unshare, {allowed}) == kAllow);
    for (const int refused : {CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
      const auto other = static_cast<std::uint64_t>(refused);
      CHECK(answer_of(nested(), SYS_clone, {allowed | other | 17}) == error(EPERM));
      CHECK(answer_of(nested(), SYS_unshare, {allowed | other}) == error(EPERM));
      CHECK(answer_of(nested(), SYS_unshare, {allowed | other | kGarbage}) == error(EPERM));
    }
  }
  CHECK(answer_of(nested(), SYS_unshare, {0x80}) == error(EPERM));  // CLONE_NEWTIME
  CHECK(answer_of(nested(), SYS_chroot) == kAllow);
  CHECK(answer_of(nested(), 435) == error(ENOSYS));
  CHECK(answer_of(nested(), SYS_setsockopt, {3, IPPROTO_IP, 64 | kGarbage}) == error(EPERM));
  CHECK(answer_of(nested(), SYS_setsockopt, {3, IPPROTO_IPV6, 65}) == error(EPERM));
  CHECK(answer_of(nested(), SYS_setsockopt, {3, IPPROTO_IPV6, 66}) == kAllow);
  CHECK(answer_of(nested(), SYS_setsockopt, {3, SOL_SOCKET, 64}) == kAllow);
  for (const int number : {SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr}) {  // file capabilities
    CHECK(answer_of(nested(), number) == error(EOPNOTSUPP));
  }
}

TEST_CASE("nested user namespaces change nothing but that") {
  for (int number = 0; number <= kTableEnd + 50; ++number) {
    const bool changed = number == SYS_clone || number == SYS_unshare || number == SYS_chroot ||
                         number == SYS_setsockopt || number == SYS_setxattr || number == SYS_lsetxattr ||
                         number == SYS_fsetxattr;
    if (!changed) {
      CHECK_MESSAGE(answer_of(nested(), number) == answer(number), "call ", number);
    }
  }
}

TEST_CASE("strict allows nothing that the ordinary list does not, and no socket but a connected pair") {
  std::size_t fewer = 0;
  for (int number = 0; number <= kTableEnd + 50; ++number) {
    const std::uint32_t now = answer_of(strict(), number);
    CHECK_MESSAGE((now == answer(number) || (now != kAllow && now != kKill)), "call ", number);
    fewer += now != answer(number) ? 1U : 0U;
  }
  CHECK(fewer >= 40);
  for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK}) {
    CHECK(answer_of(strict(), SYS_socket, {static_cast<std::uint64_t>(family), SOCK_STREAM, 0}) == error(EAFNOSUPPORT));
  }
  CHECK(answer_of(strict(), SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0}) == kAllow);
  CHECK(answer_of(strict(), SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0}) == error(EAFNOSUPPORT));
  for (const char* name : {"connect", "bind", "listen", "accept4", "shmget", "msgget", "semget", "mq_open", "io_setup",
                           "inotify_init1", "memfd_create", "execveat", "personality", "pidfd_open", "seccomp"}) {
    CHECK_MESSAGE(answer_of(strict(), call_number(name), {~0ULL, ~0ULL}) == error(EPERM), name);
  }
  for (const char* name : {"read", "write", "openat", "clone", "execve", "mmap", "futex", "epoll_wait", "sendmsg"}) {
    CHECK_MESSAGE(answer_of(strict(), call_number(name)) == answer(call_number(name)), name);
  }
}

TEST_CASE("every rule of the variants names a call that exists") {
  for (const auto list : {nested_userns_rules(), strict_rules()}) {
    for (const CallRule& rule : list) {
      CHECK_MESSAGE(seccomp_known(rule.name), rule.name);
    }
  }
}

TEST_CASE("without Unix sockets, connected pairs that carry no addresses and the other families are left") {
  const Filter code = build_filter({}, UnixSockets::refused).value();
  for (const int type : std::initializer_list<int>{SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM | SOCK_CLOEXEC}) {
    const auto bits = static_cast<std::uint64_t>(type);
    CHECK(answer_of(code, SYS_socket, {AF_UNIX, bits}) == error(EAFNOSUPPORT));
    CHECK(answer_of(code, SYS_socket, {kGarbage | AF_UNIX, bits}) == error(EAFNOSUPPORT));
    CHECK(answer_of(code, SYS_socketpair, {AF_UNIX, bits}) == kAllow);
  }
  // A datagram takes an address along, whatever the socket is connected to.
  CHECK(answer_of(code, SYS_socket, {AF_UNIX, SOCK_DGRAM}) == error(EAFNOSUPPORT));
  CHECK(answer_of(code, SYS_socketpair, {AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK}) == error(EAFNOSUPPORT));
  CHECK(answer_of(code, SYS_socket, {AF_INET, SOCK_STREAM}) == kAllow);
  CHECK(answer_of(code, SYS_socket, {AF_NETLINK, SOCK_RAW}) == kAllow);
  CHECK(answer_of(code, SYS_connect) == kAllow);
  CHECK(answer(SYS_socket, {AF_UNIX, SOCK_STREAM}) == kAllow);
  CHECK(answer(SYS_socketpair, {AF_UNIX, SOCK_DGRAM}) == kAllow);
}

TEST_CASE("supervised Unix sockets can listen, and init is asked before anything connects") {
  const Filter code = build_filter({.nested_userns = true}, UnixSockets::supervised).value();
  CHECK(answer_of(code, SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) == kAllow);
  CHECK(answer_of(code, SYS_socket, {AF_UNIX, SOCK_SEQPACKET}) == kAllow);
  CHECK(answer_of(code, SYS_socket, {AF_UNIX, SOCK_DGRAM}) == error(EAFNOSUPPORT));
  CHECK(answer_of(code, SYS_socketpair, {AF_UNIX, SOCK_DGRAM}) == error(EAFNOSUPPORT));
  CHECK(answer_of(code, SYS_bind) == kAllow);
  CHECK(answer_of(code, SYS_listen) == kAllow);
  CHECK(answer_of(code, SYS_connect) == SECCOMP_RET_USER_NOTIF);
  CHECK(answer_of(code, SYS_clone, {CLONE_NEWUSER | 17}) == kAllow);
}

TEST_CASE("among the machine's own names no socket is made, and a pair cannot be turned to anybody") {
  for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK, AF_PACKET}) {
    CHECK(shared_answer(SYS_socket, {static_cast<std::uint64_t>(family), SOCK_STREAM}) == error(EAFNOSUPPORT));
    CHECK(shared_answer(SYS_socket, {static_cast<std::uint64_t>(family), SOCK_DGRAM | SOCK_CLOEXEC}) ==
          error(EAFNOSUPPORT));
  }
  CHECK(shared_answer(SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) == kAllow);
  CHECK(shared_answer(SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET}) == kAllow);
  CHECK(shared_answer(SYS_socketpair, {AF_UNIX, SOCK_DGRAM}) == error(EAFNOSUPPORT));
  CHECK(shared_answer(SYS_socketpair, {AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK}) == error(EAFNOSUPPORT));
  CHECK(shared_answer(SYS_connect) == error(EPERM));
  CHECK(shared_answer(SYS_bind) == error(EPERM));
}

TEST_CASE("among the machine's own names ipc and attributes of files are out of reach") {
  for (const long number : std::initializer_list<long>{
           SYS_shmget,    SYS_shmat,         SYS_shmctl,       SYS_semget,       SYS_semop,
           SYS_semctl,    SYS_semtimedop,    SYS_msgget,       SYS_msgsnd,       SYS_msgrcv,
           SYS_msgctl,    SYS_mq_open,       SYS_mq_unlink,    SYS_mq_timedsend, SYS_mq_timedreceive,
           SYS_mq_notify, SYS_mq_getsetattr, SYS_fchmod,       SYS_fchmodat,     452L,
           SYS_fchown,    SYS_fchownat,      SYS_utimensat,    SYS_setxattr,     SYS_lsetxattr,
           SYS_fsetxattr, SYS_removexattr,   SYS_lremovexattr, SYS_fremovexattr}) {
    CHECK_MESSAGE(shared_answer(number) == error(EPERM), number);
  }
  for (const long number : std::initializer_list<long>{SYS_getxattr, SYS_lgetxattr, SYS_listxattr, SYS_llistxattr}) {
    CHECK_MESSAGE(shared_answer(number) == error(EOPNOTSUPP), number);
  }
  CHECK(shared_answer(SYS_fgetxattr) == kAllow);
  for (const char* name : {"chmod", "chown", "lchown", "utime", "utimes", "futimesat"}) {
    if (const int number = call_number(name); number >= 0) {
      CHECK_MESSAGE(shared_answer(number) == error(EPERM), name);
    }
  }
}

TEST_CASE("among the machine's own names a process sets limits and priorities of itself alone") {
  CHECK(shared_answer(SYS_prlimit64, {0, 7}) == kAllow);
  CHECK(shared_answer(SYS_prlimit64, {kGarbage, 7}) == kAllow);
  CHECK(shared_answer(SYS_prlimit64, {1234, 7}) == error(EPERM));
  CHECK(shared_answer(SYS_sched_setaffinity, {0}) == kAllow);
  CHECK(shared_answer(SYS_sched_setaffinity, {1234}) == error(EPERM));
  CHECK(shared_answer(SYS_setpriority, {0, 0}) == kAllow);
  CHECK(shared_answer(SYS_setpriority, {0, 1234}) == error(EPERM));
  CHECK(shared_answer(SYS_setpriority, {2, 0}) == error(EPERM));  // of all processes of the user
  CHECK(shared_answer(SYS_ioprio_set, {1, 0}) == kAllow);
  CHECK(shared_answer(SYS_ioprio_set, {3, 0}) == error(EPERM));
}

TEST_CASE("shared surroundings take away, and never give") {
  for (int number = 0; number <= kTableEnd; ++number) {
    for (const std::initializer_list<std::uint64_t> arguments :
         {std::initializer_list<std::uint64_t>{0, 0, 0, 0}, {1, 1, 1, 1}, {~0ULL, ~0ULL, ~0ULL, ~0ULL}}) {
      if (shared_answer(number, arguments) == kAllow) {
        CHECK_MESSAGE(answer(number, arguments) == kAllow, number);
      }
    }
  }
}
