// SPDX-License-Identifier: Apache-2.0
// Steps of the process that becomes the server: what it may never do again.
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "sandbox/stage/connects.hpp"
#include "sandbox/stage/privileges.hpp"
#include "sandbox/stage/stage.hpp"
#include "sandbox/syscall_filter.hpp"
#include "sandbox/trace_calls.hpp"

namespace cordon::sandbox::stage {
namespace {

Outcome limit(__rlimit_resource resource, std::string_view what, std::optional<std::uint64_t> value) {
  if (!value) {
    return {};
  }
  rlimit now = {};
  if (::getrlimit(resource, &now) != 0) {
    return failed(what);
  }
  // Never raised: a limit that we were given ourselves stays.
  const rlim_t wanted = std::min<rlim_t>(*value, now.rlim_max);
  const rlimit next = {.rlim_cur = wanted, .rlim_max = wanted};
  if (::setrlimit(resource, &next) != 0) {
    return failed(what);
  }
  return {};
}

// No core file is smaller than a page, and for 1 the kernel does not start a handler, which it does for 0. In a
// container the engine has been told, and its profile is already in force.
Outcome limit_core(const Stage& stage) {
  if (!stage.plan.in_container()) {
    return limit(RLIMIT_CORE, "core", 1);
  }
  rlimit now = {};
  if (::syscall(SYS_getrlimit, RLIMIT_CORE, &now) != 0) {
    return failed("core");
  }
  return now.rlim_max <= 1 ? Outcome{} : refuse("the engine has not limited core dumps");
}

Outcome install(std::vector<sock_filter> code) {
  const sock_fprog program = {.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    return failed("seccomp", "no_seccomp");
  }
  return {};
}

// Init answers for the filter from then on.
Outcome install_supervised(Stage& stage, std::vector<sock_filter> code) {
  const sock_fprog program = {.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  constexpr unsigned kWaitKillable = 1U << 5;  // 5.19: a signal does not make a call that was taken up be made again
  constexpr unsigned kListener = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  long fd = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kListener | kWaitKillable, &program);
  if (fd < 0 && errno == EINVAL) {
    fd = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kListener, &program);
  }
  if (fd < 0) {
    return failed("seccomp with a listener", "no_seccomp");
  }
  return hand_over_listener(stage, UniqueFd(static_cast<int>(fd)));
}

}  // namespace

Outcome enter_server_session(Stage&) {
  // No controlling terminal, and none can be had: there is no tty inside.
  if (::setsid() < 0) {
    return failed("setsid");
  }
  return die_with_parent();
}

Outcome change_directory(Stage& stage) {
  if (::chdir(stage.plan.working_directory.c_str()) != 0) {
    return failed(stage.plan.working_directory);
  }
  return {};
}

Outcome set_limits(Stage& stage) {
  const Limits& limits = stage.plan.limits;
  struct Item {
    __rlimit_resource resource;
    std::string_view what;
    std::optional<std::uint64_t> value;
  };
  // A control group counts what is used, and all of the tree; RLIMIT_DATA would count what one process has reserved.
  const auto data = stage.plan.groups.empty() ? limits.memory_bytes : std::nullopt;
  // Without a user namespace of its own the count would hold what else runs under that uid.
  const auto counts = [](const ControlGroup& group) {
    return std::ranges::any_of(group.files, [](const GroupFile& file) { return file.name == "pids.max"; });
  };
  const auto processes =
      !stage.plan.own_namespaces && std::ranges::any_of(stage.plan.groups, counts) ? std::nullopt : limits.processes;
  if (auto outcome = limit_core(stage); !outcome) {
    return outcome;
  }
  // RLIMIT_DATA and not RLIMIT_AS: WebAssembly reserves many GiB of addresses without using them.
  const std::array<Item, 7> items = {{{RLIMIT_DATA, "memory", data},
                                      {RLIMIT_NPROC, "processes", processes},
                                      {RLIMIT_NOFILE, "open_files", limits.open_files},
                                      {RLIMIT_FSIZE, "file_size", limits.file_size_bytes},
                                      {RLIMIT_CPU, "cpu_seconds", limits.cpu_seconds},
                                      {RLIMIT_RTPRIO, "rtprio", 0},
                                      {RLIMIT_NICE, "nice", 0}}};
  for (const Item& item : items) {
    if (auto outcome = limit(item.resource, item.what, item.value); !outcome) {
      return outcome;
    }
  }
  return {};
}

Outcome forbid_new_privileges(Stage&) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return failed("prctl NO_NEW_PRIVS");
  }
  return {};
}

Outcome clear_capabilities() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none = {};
  if (::syscall(SYS_capset, &header, none.data()) != 0) {
    return failed("capset");
  }
  return {};
}

Outcome empty_bounding_set() {
  constexpr int kHighestEver = 63;
  for (int capability = 0; capability <= kHighestEver; ++capability) {
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) {
      break;  // the kernel knows no more
    }
    if (held == 1 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      return failed(text::cat("drop capability ", capability));
    }
  }
  return {};
}

Outcome drop_capabilities(Stage& stage) {
  // Without a user namespace only root can, and has; nobody else gains anything from the set with no_new_privs.
  if (!stage.plan.shared_host) {
    if (auto outcome = empty_bounding_set(); !outcome) {
      return outcome;
    }
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return failed("clear ambient capabilities");
  }
  return clear_capabilities();
}

Outcome filter_syscalls(Stage& stage) {
  if (stage.plan.trace) {
    // First, while nothing is refused yet. Which of two filters came first does not matter for what they answer.
    if (auto outcome = install(build_trace_filter()); !outcome) {
      return outcome;
    }
  }
  auto code = build_filter(stage.plan.filter, stage.plan.unix_sockets,
                           stage.plan.shared_host ? Surroundings::shared : Surroundings::own);
  if (!code) {
    return refuse(code.error().detail, "platform");
  }
  if (stage.plan.unix_sockets == UnixSockets::supervised) {
    return install_supervised(stage, std::move(*code));
  }
  return install(std::move(*code));
}

}  // namespace cordon::sandbox::stage
