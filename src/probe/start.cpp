// SPDX-License-Identifier: Apache-2.0
// What the server is given: credentials, environment, descriptors, limits.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "probe/check.hpp"

extern char** environ;

namespace cordon::probe {
namespace {

constexpr int kMostDescriptors = 4096;

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ",") + word;
  }
  return text;
}

std::string environment_names() {
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    names.insert(variable.substr(0, variable.find('=')));
  }
  return joined(names);
}

// All of what follows is asked of the kernel itself: where there is no pid namespace, /proc may be closed altogether.
std::string octal(unsigned mode) {
  std::array<char, 8> digits = {};
  std::snprintf(digits.data(), digits.size(), "%04o", mode);
  return digits.data();
}

void identity(const Request& request, Result& result) {
  std::array<uid_t, 3> uids = {};
  std::array<gid_t, 3> gids = {};
  ::getresuid(&uids[0], &uids[1], &uids[2]);
  ::getresgid(&gids[0], &gids[1], &gids[2]);
  for (int i = 0; i < 3 && request.has("uid"); ++i) {
    const auto at = static_cast<std::size_t>(i);
    result.equal("uid", request.one("uid"), std::to_string(uids[at]));
    result.equal("gid", request.one("gid"), std::to_string(gids[at]));
  }
}

void groups(const Request& request, Result& result) {
  if (request.one("groups") != "none") {
    result.not_applicable("an ordinary user's groups cannot be dropped");
    return;
  }
  result.equal("groups", "0", std::to_string(::getgroups(0, nullptr)));
}

void become_root(const Request&, Result& result) {
  result.denied("setuid", [] { return in_child([] { return result_of(::setuid(0)); }); });
  result.denied("setgid", [] { return in_child([] { return result_of(::setgid(0)); }); });
  result.denied("setgroups", [] {
    return in_child([] {
      const gid_t group = 0;
      return result_of(::setgroups(1, &group));
    });
  });
}

// One hexadecimal number of the bits for which `holds` says 1.
std::string bits_of(const std::function<int(int)>& holds) {
  constexpr int kMost = 64;
  std::uint64_t bits = 0;
  for (int bit = 0; bit < kMost; ++bit) {
    bits |= holds(bit) == 1 ? std::uint64_t{1} << static_cast<unsigned>(bit) : 0;
  }
  std::array<char, 32> digits = {};
  std::snprintf(digits.data(), digits.size(), "%llx", static_cast<unsigned long long>(bits));
  return digits.data();
}

void capabilities(const Request& request, Result& result) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data = {};
  if (::syscall(SYS_capget, &header, data.data()) != 0) {
    result.equal("capget", "answered", ::strerrorname_np(errno));
    return;
  }
  result.equal("effective", "0", std::to_string(data[0].effective | data[1].effective));
  result.equal("permitted", "0", std::to_string(data[0].permitted | data[1].permitted));
  result.equal("inheritable", "0", std::to_string(data[0].inheritable | data[1].inheritable));
  // Whoever has no privilege outside cannot drop it, and no_new_privs makes it void.
  if (request.one("bounding") == "none") {
    result.equal("bounding", "0", bits_of([](int bit) { return ::prctl(PR_CAPBSET_READ, bit, 0, 0, 0); }));
  }
  result.equal("ambient", "0",
               bits_of([](int bit) { return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, bit, 0, 0); }));
}

void no_new_privileges(const Request&, Result& result) {
  result.equal("no_new_privs", "1", std::to_string(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)));
}

void filter(const Request&, Result& result) {
  result.equal("seccomp", "2", std::to_string(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0)));
}

void session(const Request&, Result& result) {
  result.equal("session", "own", ::getsid(0) == ::getpid() ? "own" : "another's");
}

void signals(const Request&, Result& result) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  result.equal("blocked", "0", bits_of([&](int bit) { return bit > 0 ? ::sigismember(&blocked, bit) : 0; }));
}

void mask(const Request& request, Result& result) {
  if (request.has("umask")) {
    const mode_t now = ::umask(022);
    ::umask(now);
    result.equal("umask", request.one("umask"), octal(now));
  }
}

void host_name(const Request& request, Result& result) {
  if (!request.has("hostname")) {
    result.not_applicable("this plan has no namespace of its own");
    return;
  }
  std::array<char, 256> name = {};
  (void)::gethostname(name.data(), name.size() - 1);
  result.equal("name of this machine", request.one("hostname"), name.data());
}

void working_directory(const Request& request, Result& result) {
  std::array<char, 4096> folder = {};
  if (request.has("cwd")) {
    result.equal("folder", request.one("cwd"), ::getcwd(folder.data(), folder.size()) != nullptr ? folder.data() : "");
  }
}

void environment(const Request& request, Result& result) {
  const std::vector<std::string>& names = request.all("environment");
  result.equal("names", joined({names.begin(), names.end()}), environment_names());
}

void leaked_variable(const Request& request, Result& result) {
  if (request.has("variable")) {
    result.equal("variable", "absent", ::getenv(request.one("variable").c_str()) == nullptr ? "absent" : "here");
  } else {
    result.not_applicable("nothing was planted");
  }
}

void descriptors(const Request&, Result& result) {
  std::string list;
  for (int fd = 0; fd < kMostDescriptors; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) {
      list += (list.empty() ? "" : ",") + std::to_string(fd);
    }
  }
  result.equal("open", "0,1,2", list);
}

void leaked_descriptor(const Request& request, Result& result) {
  if (!request.has("descriptor")) {
    result.not_applicable("nothing was planted");
    return;
  }
  result.refused("fcntl", "EBADF", [&] { return result_of(::fcntl(request.number("descriptor"), F_GETFD)); });
}

void pipes(const Request&, Result& result) {
  std::string kinds;
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat status = {};
    kinds += ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) ? 'p' : '?';
  }
  result.equal("kinds", "ppp", kinds);
}

void reopen(const Request&, Result& result) {
  result.allowed("/dev/stdin", [] { return result_of_open(::open("/dev/stdin", O_RDONLY | O_CLOEXEC | O_NONBLOCK)); });
}

void limit(const Request& request, Result& result, const char* name, __rlimit_resource resource) {
  if (!request.has(name)) {
    result.not_applicable("the policy sets none");
    return;
  }
  rlimit value = {};
  ::getrlimit(resource, &value);
  result.equal(name, request.one(name),
               value.rlim_cur == value.rlim_max ? std::to_string(value.rlim_max) : "soft and hard differ");
}

void limit_core(const Request&, Result& result) {
  // Not getrlimit: libc asks by the call that may also set, and that one is refused.
  rlimit value = {};
  ::syscall(SYS_getrlimit, RLIMIT_CORE, &value);
  // 0 where the machine's own limit is that; nobody could make it 1.
  result.equal("core", "at most 1", value.rlim_max <= 1 ? "at most 1" : std::to_string(value.rlim_max));
}

// With 0 the machine's handler of core dumps would be started, outside and as root; 1 is what keeps it from that.
void dump_handler(const Request&, Result& result) {
  rlimit none = {};
  ::syscall(SYS_getrlimit, RLIMIT_CORE, &none);
  none.rlim_cur = 0;
  result.refused("setrlimit", "EINVAL", [&] { return result_of(::syscall(SYS_setrlimit, RLIMIT_CORE, &none)); });
  result.refused("prlimit", "EINVAL",
                 [&] { return result_of(::syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, nullptr)); });
}
void limit_processes(const Request& request, Result& result) { limit(request, result, "processes", RLIMIT_NPROC); }
void limit_files(const Request& request, Result& result) { limit(request, result, "open_files", RLIMIT_NOFILE); }
void limit_size(const Request& request, Result& result) { limit(request, result, "file_size", RLIMIT_FSIZE); }
void limit_memory(const Request& request, Result& result) { limit(request, result, "memory", RLIMIT_DATA); }
void limit_cpu(const Request& request, Result& result) { limit(request, result, "cpu", RLIMIT_CPU); }

constexpr std::array kChecks = {
    Check{"privileges.identity", "syscalls.privileges", "switch of user", Place::anywhere, identity},
    Check{"privileges.groups", "syscalls.privileges", "switch of user", Place::anywhere, groups},
    Check{"privileges.become_root", "syscalls.privileges", "capabilities", Place::anywhere, become_root},
    Check{"privileges.capabilities", "syscalls.privileges", "capabilities", Place::anywhere, capabilities},
    Check{"privileges.no_new", "syscalls.privileges", "no_new_privs", Place::anywhere, no_new_privileges},
    Check{"syscalls.filter_on", "syscalls.filter", "seccomp", Place::anywhere, filter},
    Check{"processes.session", "processes.own", "setsid", Place::anywhere, session},
    Check{"processes.signals", "processes.own", "clean start", Place::anywhere, signals},
    Check{"processes.umask", "processes.own", "clean start", Place::anywhere, mask},
    Check{"processes.hostname", "processes.own", "uts namespace", Place::anywhere, host_name},
    Check{"processes.working_directory", "processes.own", "clean start", Place::anywhere, working_directory},
    Check{"environment.names", "environment.listed", "clean start", Place::anywhere, environment},
    Check{"environment.leaked_variable", "environment.listed", "clean start", Place::anywhere, leaked_variable},
    Check{"descriptors.open", "descriptors.standard", "close_range", Place::anywhere, descriptors},
    Check{"descriptors.leaked", "descriptors.standard", "close_range", Place::anywhere, leaked_descriptor},
    Check{"descriptors.pipes", "descriptors.standard", "pipes", Place::anywhere, pipes},
    Check{"descriptors.reopen", "descriptors.standard", "pipes", Place::inside, reopen},
    Check{"limits.core", "limits", "RLIMIT_CORE", Place::anywhere, limit_core},
    Check{"syscalls.dump_handler", "syscalls.filter", "seccomp", Place::anywhere, dump_handler},
    Check{"limits.processes", "limits.processes", "RLIMIT_NPROC", Place::anywhere, limit_processes},
    Check{"limits.open_files", "limits.open_files", "RLIMIT_NOFILE", Place::anywhere, limit_files},
    Check{"limits.file_size", "limits.file_size", "RLIMIT_FSIZE", Place::anywhere, limit_size},
    Check{"limits.memory", "limits.memory", "RLIMIT_DATA", Place::anywhere, limit_memory},
    Check{"limits.cpu", "limits.cpu", "RLIMIT_CPU", Place::anywhere, limit_cpu},
};

}  // namespace

std::span<const Check> start_checks() { return kChecks; }

}  // namespace cordon::probe
