// SPDX-License-Identifier: Apache-2.0
#include "sandbox/confine.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/syscall_filter.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kWhere = "own privileges";

// A failure of the machine's, not of the policy: nothing in the policy makes it go away.
std::unexpected<Error> failed(std::string_view what) {
  return fail(Errc::unsupported_isolation, errno_text(what, errno), std::string(kWhere));
}

using CapabilitySets = std::array<__user_cap_data_struct, 2>;

Result<CapabilitySets> capabilities() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  CapabilitySets sets = {};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) {
    return failed("capget");
  }
  return sets;
}

// Only a kernel that does not know the call lacks it; one that forbids it to us is a failure.
bool kernel_filters_calls() {
  std::uint32_t action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 || (errno != ENOSYS && errno != EINVAL);
}

bool has(const CapabilitySets& sets, unsigned capability) {
  return (sets[capability / 32].effective & (1U << (capability % 32))) != 0;
}

// What the C library reads to look a name up. Where resolv.conf is a link into a folder of the program that writes it,
// that folder: the file is replaced when the network changes.
Status leave_resolver_files(int ruleset) {
  std::vector<std::string> paths = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf",
                                    "/etc/host.conf"};
  std::array<char, PATH_MAX> real = {};
  if (::realpath("/etc/resolv.conf", real.data()) != nullptr) {
    const std::string target = real.data();
    const std::string folder = target.substr(0, target.rfind('/'));
    if (folder != "/etc" && folder.starts_with("/run/")) {
      paths.push_back(folder);
    }
  }
  for (const std::string& path : paths) {
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (fd && kernel::landlock_add_path(ruleset, {.allowed = kernel::kLandlockReadFile, .parent_fd = fd.get()}) != 0) {
      return failed(text::cat("landlock: leave ", path));
    }
  }
  return {};
}

Status apply_filter(const std::vector<std::string_view>& calls, const std::vector<CallRule>& rules) {
  auto code = build_filter({calls, rules, {}});
  if (!code) {
    return std::unexpected(code.error());
  }
  const sock_fprog program = {.len = static_cast<unsigned short>(code->size()), .filter = code->data()};
  // All threads, should a library have started one.
  const long refused = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (refused > 0) {
    return fail(Errc::internal, text::cat("thread ", refused, " cannot be filtered"), std::string(kWhere));
  }
  return refused == 0 ? Status() : failed("seccomp");
}

}  // namespace

int running_landlock_abi() { return std::max(kernel::landlock_create_ruleset(nullptr, 0, 1), 0); }

Status leave_root(const Identity& identity, FileUid file_uid) {
  int at_parents_death = 0;
  if (::prctl(PR_GET_PDEATHSIG, &at_parents_death, 0, 0, 0) != 0) {
    return failed("PR_GET_PDEATHSIG");
  }
  // Else the kernel would take the capabilities away in the midst of this, and one is needed for the last step. Locked:
  // uid 0 means nothing any more.
  constexpr unsigned long kBits = SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NOROOT |
                                  SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kBits, 0, 0, 0) != 0) {
    return failed("PR_SET_SECUREBITS");
  }
  if (::setgroups(0, nullptr) != 0) {
    return failed("setgroups");
  }
  if (::setresgid(identity.gid, identity.gid, identity.gid) != 0) {
    return failed("setresgid");
  }
  if (::setresuid(identity.uid, identity.uid, identity.uid) != 0) {
    return failed("setresuid");
  }
  // The log lies in a folder that only root may enter, and is looked up there now and then. The uid for files decides
  // about nothing else, opens nothing (the next steps see to that), and cannot be turned back into a real one.
  if (file_uid == FileUid::stays) {
    ::setfsuid(0);
    if (::setfsuid(static_cast<uid_t>(-1)) != 0) {
      return fail(Errc::internal, "setfsuid was refused", std::string(kWhere));
    }
  }
  // A change of identity undoes both: it may make us readable again, and forgets the signal.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, at_parents_death, 0, 0, 0) != 0) {
    return failed("PR_SET_DUMPABLE");
  }
  return {};
}

Status drop_all_capabilities() {
  const Result<CapabilitySets> now = capabilities();
  if (!now) {
    return std::unexpected(now.error());
  }
  // The bounding set bounds what an execve may give. Only who holds this capability can empty it; for everybody else
  // no_new_privs and the list of calls stand there.
  constexpr int kHighestEver = 63;
  for (int capability = 0; has(*now, CAP_SETPCAP) && capability <= kHighestEver; ++capability) {
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) {
      break;  // the kernel knows no more
    }
    if (held == 1 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      return failed(text::cat("drop capability ", capability));
    }
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) {
    return failed("clear ambient capabilities");
  }
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  CapabilitySets none = {};
  if (::syscall(SYS_capset, &header, none.data()) != 0) {
    return failed("capset");
  }
  return {};
}

Result<int> close_files(int landlock_abi, const OwnNeeds& needs) {
  if (landlock_abi <= 0) {
    return 0;
  }
  // Everything that can be asked for, and no rule: nothing can be opened, made or renamed. Not the scope of signals:
  // the server was started before and lies outside.
  const kernel::LandlockRuleset all = {.handled_fs = kernel::landlock_file_rights(landlock_abi),
                                       .handled_net = landlock_abi < 4 ? 0
                                                      : needs.hosts    ? kernel::kLandlockTcpBind
                                                                       : kernel::kLandlockTcp,
                                       .scoped = landlock_abi >= 6 ? kernel::kLandlockScopeAbstract : 0};
  const UniqueFd ruleset(kernel::landlock_create_ruleset(&all, sizeof all, 0));
  if (!ruleset) {
    return failed("landlock ruleset");
  }
  if (const Status left = needs.hosts ? leave_resolver_files(ruleset.get()) : Status(); !left) {
    return std::unexpected(left.error());
  }
  if (kernel::landlock_restrict_self(ruleset.get()) != 0) {
    return failed("landlock restrict");
  }
  return landlock_abi;
}

Status filter_own_calls(const OwnNeeds& needs) {
  std::vector<pid_t> children;
  std::ranges::copy_if(std::array{needs.child, needs.spare}, std::back_inserter(children), [](pid_t pid) {
    return pid > 1;  // the others mean nobody, or everybody
  });
  std::vector<CallRule> rules = own_rules(::getpid(), needs.signals, children);
  std::vector<std::string_view> calls(own_calls().begin(), own_calls().end());
  if (needs.hosts) {
    const std::vector<CallRule> more = host_rules(running_landlock_abi() > 0);
    rules.insert(rules.end(), more.begin(), more.end());
    calls.insert(calls.end(), host_calls().begin(), host_calls().end());
  }
  return apply_filter(calls, rules);
}

Status check_confined(const OwnNeeds& needs, const OwnLimits& limits) {
  const auto still = [](std::string_view what) {
    return fail(Errc::internal, text::cat("still there after it was given up: ", what), std::string(kWhere));
  };
  const Result<CapabilitySets> sets = capabilities();
  if (!sets) {
    return std::unexpected(sets.error());
  }
  for (const __user_cap_data_struct& set : *sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) {
      return still("a capability");
    }
  }
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
    return still("new privileges by execve");
  }
  if (limits.calls && ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) {
    return still("every system call");
  }
  if (needs.become && (::getuid() == 0 || ::geteuid() == 0)) {
    return still("root");
  }
  if ((limits.calls || limits.landlock_abi > 0) && UniqueFd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC))) {
    return still("opening files");
  }
  return {};
}

Result<OwnLimits> confine_self(const OwnNeeds& needs) {
  OwnLimits limits = {.landlock_abi = running_landlock_abi(),
                      .calls = !filter_architecture().empty() && kernel_filters_calls()};
  if (needs.become) {
    const bool closed = limits.landlock_abi > 0 || limits.calls;
    if (const Status left = leave_root(*needs.become, closed ? FileUid::stays : FileUid::goes); !left) {
      return std::unexpected(left.error());
    }
  }
  if (const Status dropped = drop_all_capabilities(); !dropped) {
    return std::unexpected(dropped.error());
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return failed("PR_SET_NO_NEW_PRIVS");
  }
  const Result<int> closed = close_files(limits.landlock_abi, needs);
  if (!closed) {
    return std::unexpected(closed.error());
  }
  if (limits.calls) {
    if (const Status filtered = filter_own_calls(needs); !filtered) {
      return std::unexpected(filtered.error());
    }
  }
  if (const Status held = check_confined(needs, limits); !held) {
    return std::unexpected(held.error());
  }
  return limits;
}

Status confine_looker(const std::optional<Identity>& become) {
  if (become) {
    // All of it, the uid for files too: the server's own folders are closed to others.
    if (const Status left = leave_root(*become, FileUid::goes); !left) {
      return left;
    }
  }
  if (const Status dropped = drop_all_capabilities(); !dropped) {
    return dropped;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return failed("PR_SET_NO_NEW_PRIVS");
  }
  // Landlock does not judge O_PATH, and all that reads stays closed by it where the filter is not known.
  if (const Result<int> closed = close_files(running_landlock_abi()); !closed) {
    return std::unexpected(closed.error());
  }
  if (filter_architecture().empty() || !kernel_filters_calls()) {
    return {};
  }
  std::vector<CallRule> rules = own_rules(::getpid(), Signals::nobody, {});
  const std::vector<CallRule> look = look_rules();
  rules.insert(rules.end(), look.begin(), look.end());
  return apply_filter(std::vector<std::string_view>(own_calls().begin(), own_calls().end()), rules);
}

std::string describe(const OwnLimits& limits) {
  const std::string by = limits.landlock_abi > 0 && limits.calls
                             ? text::cat("Landlock ABI ", limits.landlock_abi, " and the list of system calls")
                         : limits.calls ? std::string("the list of system calls; this kernel has no Landlock")
                         : limits.landlock_abi > 0 ? text::cat("Landlock ABI ", limits.landlock_abi)
                                                   : std::string();
  return text::cat("no capabilities, ",
                   by.empty() ? std::string("but all files: this kernel has no Landlock, ")
                              : text::cat("no files that are not open already (", by, "), "),
                   limits.calls ? "its own list of system calls"
                                : "but every system call: no filter on this kernel or architecture");
}

}  // namespace cordon::sandbox
