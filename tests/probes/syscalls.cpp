// SPDX-License-Identifier: Apache-2.0
// Kernel surface. Arguments are such that the call could not do anything even if it were let through: what counts is
// whether the filter answers (EPERM, ENOSYS) or the kernel's own checks do (EFAULT, EBADF, EINVAL).
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "probe.hpp"

namespace cordon::probe {
namespace {

struct Call {
  const char* name;
  long number;
};

constexpr long kBad = -1;

constexpr Call kForbidden[] = {
    {"io_uring_setup", 425},
    {"io_uring_enter", 426},
    {"io_uring_register", 427},
    {"bpf", SYS_bpf},
    {"perf_event_open", SYS_perf_event_open},
    {"userfaultfd", SYS_userfaultfd},
    {"keyctl", SYS_keyctl},
    {"add_key", SYS_add_key},
    {"request_key", SYS_request_key},
    {"mount", SYS_mount},
    {"umount2", SYS_umount2},
    {"pivot_root", SYS_pivot_root},
    {"chroot", SYS_chroot},
    {"open_tree", 428},
    {"move_mount", 429},
    {"fsopen", 430},
    {"fsconfig", 431},
    {"fsmount", 432},
    {"fspick", 433},
    {"mount_setattr", 442},
    {"name_to_handle_at", SYS_name_to_handle_at},
    {"open_by_handle_at", SYS_open_by_handle_at},
    {"fanotify_init", SYS_fanotify_init},
    {"quotactl", SYS_quotactl},
    {"init_module", SYS_init_module},
    {"finit_module", SYS_finit_module},
    {"delete_module", SYS_delete_module},
    {"kexec_load", SYS_kexec_load},
    {"swapon", SYS_swapon},
    {"swapoff", SYS_swapoff},
    {"acct", SYS_acct},
    {"syslog", SYS_syslog},
    {"sethostname", SYS_sethostname},
    {"setdomainname", SYS_setdomainname},
    {"clock_settime", SYS_clock_settime},
    {"settimeofday", SYS_settimeofday},
    {"adjtimex", SYS_adjtimex},
    {"clock_adjtime", SYS_clock_adjtime},
    {"mbind", SYS_mbind},
    {"set_mempolicy", SYS_set_mempolicy},
    {"move_pages", SYS_move_pages},
    {"migrate_pages", SYS_migrate_pages},
    {"vmsplice", SYS_vmsplice},
    {"vhangup", SYS_vhangup},
    {"memfd_secret", 447},
#if defined(__x86_64__)
    {"iopl", SYS_iopl},
    {"ioperm", SYS_ioperm},
    {"modify_ldt", SYS_modify_ldt},
    {"kexec_file_load", SYS_kexec_file_load},
    {"uselib", SYS_uselib},
    {"ustat", SYS_ustat},
#endif
};

// Younger than the table: answered as by an older kernel.
constexpr Call kUnknown[] = {{"statmount", 457},         {"listmount", 458},      {"lsm_get_self_attr", 459},
                             {"setxattrat", 463},        {"open_tree_attr", 467}, {"file_setattr", 469},
                             {"not_yet_invented", 1000}, {"minus_one", -1}};

}  // namespace

void check_syscalls(const Canaries&) {
  for (const Call& call : kForbidden) {
    check(std::string("syscall_") + call.name, "EPERM",
          [&] { return result_of(::syscall(call.number, kBad, kBad, kBad, kBad, kBad, kBad)); });
  }
  for (const Call& call : kUnknown) {
    check(std::string("syscall_") + call.name, "ENOSYS",
          [&] { return result_of(::syscall(call.number, kBad, kBad, kBad, kBad, kBad, kBad)); });
  }
  check("personality_without_randomisation", "EPERM", [] { return result_of(::syscall(SYS_personality, 0x0040000)); });
  check("personality_query", "allowed", [] { return result_of(::syscall(SYS_personality, 0xffffffff)); });
#if defined(__x86_64__)
  const int killed = 1000 + SIGSYS;
  compare("int80", std::to_string(killed), std::to_string(in_child([] {
            long number = 20;  // getpid of the 32-bit table
            asm volatile("int $0x80" : "+a"(number) : : "memory");
            return 0;
          })));
  compare("x32_call", std::to_string(killed),
          std::to_string(in_child([] { return static_cast<int>(::syscall(0x40000000 | SYS_getpid)) * 0; })));
#endif
}

}  // namespace cordon::probe
