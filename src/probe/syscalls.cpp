// SPDX-License-Identifier: Apache-2.0
// Kernel surface. Arguments are such that the call could not do anything even if it were let through: what counts is
// whether the filter answers (EPERM, ENOSYS) or the kernel's own checks do (EFAULT, EBADF, EINVAL). All the same, what
// concerns the machine as a whole is tried inside only.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

struct Call {
  const char* name;
  long number;
};

constexpr long kBad = -1;

void each(Result& result, std::string_view error_name, std::initializer_list<Call> calls) {
  for (const Call& call : calls) {
    result.refused(call.name, error_name,
                   [&] { return result_of(::syscall(call.number, kBad, kBad, kBad, kBad, kBad, kBad)); });
  }
}

void io_uring(const Request&, Result& result) {
  each(result, "EPERM", {{"io_uring_setup", 425}, {"io_uring_enter", 426}, {"io_uring_register", 427}});
}

void bpf(const Request&, Result& result) { each(result, "EPERM", {{"bpf", SYS_bpf}}); }

void perf(const Request&, Result& result) { each(result, "EPERM", {{"perf_event_open", SYS_perf_event_open}}); }

void userfaultfd(const Request&, Result& result) { each(result, "EPERM", {{"userfaultfd", SYS_userfaultfd}}); }

void keys(const Request&, Result& result) {
  each(result, "EPERM", {{"keyctl", SYS_keyctl}, {"add_key", SYS_add_key}, {"request_key", SYS_request_key}});
}

void mounts(const Request& request, Result& result) {
  each(result, "EPERM", {{"mount", SYS_mount}, {"umount2", SYS_umount2}, {"pivot_root", SYS_pivot_root}});
  if (!request.calls("nested")) {
    each(result, "EPERM", {{"chroot", SYS_chroot}});
  }
}

void new_mounts(const Request&, Result& result) {
  each(result, "EPERM",
       {{"open_tree", 428},
        {"move_mount", 429},
        {"fsopen", 430},
        {"fsconfig", 431},
        {"fsmount", 432},
        {"fspick", 433},
        {"mount_setattr", 442}});
}

void handles(const Request&, Result& result) {
  each(result, "EPERM", {{"name_to_handle_at", SYS_name_to_handle_at}, {"open_by_handle_at", SYS_open_by_handle_at}});
}

void watching(const Request&, Result& result) {
  each(result, "EPERM", {{"fanotify_init", SYS_fanotify_init}, {"quotactl", SYS_quotactl}});
}

void modules(const Request&, Result& result) {
  each(result, "EPERM",
       {{"init_module", SYS_init_module}, {"finit_module", SYS_finit_module}, {"delete_module", SYS_delete_module}});
}

void kexec(const Request&, Result& result) {
  each(result, "EPERM",
       {
           {"kexec_load", SYS_kexec_load},
#if defined(__x86_64__)
           {"kexec_file_load", SYS_kexec_file_load},
#endif
       });
}

void machine_state(const Request&, Result& result) {
  each(result, "EPERM",
       {{"swapon", SYS_swapon},
        {"swapoff", SYS_swapoff},
        {"acct", SYS_acct},
        {"syslog", SYS_syslog},
        {"vhangup", SYS_vhangup}});
}

void names_and_clock(const Request&, Result& result) {
  each(result, "EPERM",
       {{"sethostname", SYS_sethostname},
        {"setdomainname", SYS_setdomainname},
        {"clock_settime", SYS_clock_settime},
        {"settimeofday", SYS_settimeofday},
        {"adjtimex", SYS_adjtimex},
        {"clock_adjtime", SYS_clock_adjtime}});
}

void memory_policy(const Request&, Result& result) {
  each(result, "EPERM",
       {{"mbind", SYS_mbind},
        {"set_mempolicy", SYS_set_mempolicy},
        {"move_pages", SYS_move_pages},
        {"migrate_pages", SYS_migrate_pages}});
}

void odd_memory(const Request&, Result& result) {
  each(result, "EPERM", {{"vmsplice", SYS_vmsplice}, {"memfd_secret", 447}});
}

#if defined(__x86_64__)
void ports(const Request&, Result& result) {
  each(result, "EPERM", {{"iopl", SYS_iopl}, {"ioperm", SYS_ioperm}, {"modify_ldt", SYS_modify_ldt}});
}

void old_calls(const Request&, Result& result) {
  each(result, "EPERM", {{"uselib", SYS_uselib}, {"ustat", SYS_ustat}});
}
#endif

// Younger than the table: answered as by an older kernel.
void unknown(const Request&, Result& result) {
  each(result, "ENOSYS",
       {{"statmount", 457},
        {"listmount", 458},
        {"lsm_get_self_attr", 459},
        {"setxattrat", 463},
        {"open_tree_attr", 467},
        {"file_setattr", 469},
        {"not_yet_invented", 1000},
        {"minus_one", -1}});
}

void personality(const Request& request, Result& result) {
  result.refused("no randomisation", "EPERM",
                 [] { return in_child([] { return result_of(::syscall(SYS_personality, 0x0040000)); }); });
  if (!request.calls("strict")) {
    result.allowed("question", [] { return result_of(::syscall(SYS_personality, 0xffffffff)); });
  }
}

#if defined(__x86_64__)
void other_abi(const Request&, Result& result) {
  const std::string killed = std::to_string(1000 + SIGSYS);
  result.equal("int 0x80", killed, std::to_string(in_child([] {
                 long number = 20;  // getpid of the 32-bit table
                 asm volatile("int $0x80" : "+a"(number) : : "memory");
                 return 0;
               })));
  result.equal("x32", killed,
               std::to_string(in_child([] { return static_cast<int>(::syscall(0x40000000 | SYS_getpid)) * 0; })));
}
#endif

constexpr Check filtered(std::string_view id, Place place, void (*run)(const Request&, Result&)) {
  return {id, "syscalls.filter", "seccomp", place, run};
}

constexpr std::array kChecks = {
    filtered("syscalls.io_uring", Place::anywhere, io_uring),
    filtered("syscalls.bpf", Place::anywhere, bpf),
    filtered("syscalls.perf", Place::anywhere, perf),
    filtered("syscalls.userfaultfd", Place::anywhere, userfaultfd),
    filtered("syscalls.keys", Place::anywhere, keys),
    filtered("syscalls.mounts", Place::inside, mounts),
    filtered("syscalls.new_mounts", Place::inside, new_mounts),
    filtered("syscalls.handles", Place::anywhere, handles),
    filtered("syscalls.watching", Place::inside, watching),
    filtered("syscalls.modules", Place::inside, modules),
    filtered("syscalls.kexec", Place::inside, kexec),
    filtered("syscalls.machine_state", Place::inside, machine_state),
    filtered("syscalls.names_and_clock", Place::inside, names_and_clock),
    filtered("syscalls.memory_policy", Place::anywhere, memory_policy),
    filtered("syscalls.odd_memory", Place::anywhere, odd_memory),
    filtered("syscalls.unknown_numbers", Place::anywhere, unknown),
    filtered("syscalls.personality", Place::anywhere, personality),
#if defined(__x86_64__)
    filtered("syscalls.ports", Place::inside, ports),
    filtered("syscalls.old_calls", Place::anywhere, old_calls),
    filtered("syscalls.other_abi", Place::anywhere, other_abi),
#endif
};

}  // namespace

std::span<const Check> syscall_checks() { return kChecks; }

}  // namespace cordon::probe
