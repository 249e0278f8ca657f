// SPDX-License-Identifier: Apache-2.0
// /proc: no setting of the machine can be changed, nothing of it or of others read. Opens, and writes nothing.
#include <array>
#include <cerrno>

#include "probe/check.hpp"

namespace cordon::probe {
namespace {

void write_each(Result& result, std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    result.denied(path, [&] { return open_for_writing(path); });
  }
}

void read_each(Result& result, std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    result.denied(path, [&] { return read_one(path); });
  }
}

void kernel_settings(const Request&, Result& result) {
  write_each(result, {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe",
                      "/proc/sys/vm/drop_caches", "/proc/sys/fs/binfmt_misc/register"});
}

void network_settings(const Request&, Result& result) {
  write_each(result, {"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv4/ping_group_range"});
}

void machine_switches(const Request&, Result& result) {
  write_each(result, {"/proc/sysrq-trigger", "/proc/irq/default_smp_affinity"});
}

void kernel_memory(const Request&, Result& result) {
  read_each(result, {"/proc/kcore", "/proc/kallsyms", "/proc/kmsg", "/proc/iomem", "/proc/modules"});
}

void kernel_keys(const Request&, Result& result) { read_each(result, {"/proc/keys", "/proc/key-users"}); }

void kernel_details(const Request&, Result& result) { read_each(result, {"/proc/timer_list", "/proc/config.gz"}); }

void init_secrets(const Request&, Result& result) {
  read_each(result, {"/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/proc/1/fd/4", "/proc/1/exe"});
}

void own_settings(const Request&, Result& result) {
  result.allowed("/proc/self/oom_score_adj", [] { return open_for_writing("/proc/self/oom_score_adj"); });
}

constexpr std::array kChecks = {
    Check{"proc.kernel_settings", "filesystem.proc", "read-only /proc/sys", Place::inside, kernel_settings},
    Check{"proc.network_settings", "filesystem.proc", "read-only /proc/sys", Place::inside, network_settings},
    Check{"proc.machine_switches", "filesystem.proc", "read-only /proc", Place::inside, machine_switches},
    Check{"proc.kernel_memory", "filesystem.proc", "covers", Place::inside, kernel_memory},
    Check{"proc.kernel_keys", "filesystem.proc", "covers", Place::inside, kernel_keys},
    Check{"proc.kernel_details", "filesystem.proc", "covers", Place::inside, kernel_details},
    Check{"proc.init", "processes.own", "not dumpable", Place::inside, init_secrets},
    Check{"proc.own_settings", "filesystem.proc", "own /proc", Place::inside, own_settings},
};

}  // namespace

std::span<const Check> procfs_checks() { return kChecks; }

}  // namespace cordon::probe
