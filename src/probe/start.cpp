// SPDX-License-Identifier: Apache-2.0
// What the server is given: credentials, environment, descriptors, limits.
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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

// "Key:" of /proc/self/status with blanks as commas.
std::string status_field(const char* key) {
  FILE* file = std::fopen("/proc/self/status", "re");
  std::array<char, 512> line = {};
  const std::size_t length = std::strlen(key);
  std::string value;
  while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
    if (std::strncmp(line.data(), key, length) != 0 || line[length] != ':') {
      continue;
    }
    for (const char* at = std::strtok(line.data() + length + 1, " \t\n"); at != nullptr;
         at = std::strtok(nullptr, " \t\n")) {
      value += (value.empty() ? "" : ",") + std::string(at);
    }
  }
  if (file != nullptr) {
    std::fclose(file);
  }
  return value;
}

void identity(const Request& request, Result& result) {
  for (const auto& [name, field] : {std::pair("uid", "Uid"), std::pair("gid", "Gid")}) {
    const std::string& id = request.one(name);
    if (!id.empty()) {
      result.equal(name, id + "," + id + "," + id + "," + id, status_field(field));
    }
  }
}

void groups(const Request& request, Result& result) {
  if (request.one("groups") != "none") {
    result.not_applicable("an ordinary user's groups cannot be dropped");
    return;
  }
  result.equal("groups", "", status_field("Groups"));
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

void capabilities(const Request&, Result& result) {
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    result.equal(set, "0000000000000000", status_field(set));
  }
}

void no_new_privileges(const Request&, Result& result) { result.equal("NoNewPrivs", "1", status_field("NoNewPrivs")); }

void filter(const Request&, Result& result) { result.equal("Seccomp", "2", status_field("Seccomp")); }

void session(const Request&, Result& result) {
  result.equal("session", "own", ::getsid(0) == ::getpid() ? "own" : "another's");
}

void signals(const Request&, Result& result) {
  result.equal("blocked signals", "0000000000000000", status_field("SigBlk"));
}

void mask(const Request& request, Result& result) {
  if (request.has("umask")) {
    result.equal("umask", request.one("umask"), status_field("Umask"));
  }
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
  rlimit value = {};
  ::getrlimit(RLIMIT_CORE, &value);
  result.equal("core", "0", std::to_string(value.rlim_max));
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
    Check{"processes.working_directory", "processes.own", "clean start", Place::anywhere, working_directory},
    Check{"environment.names", "environment.listed", "clean start", Place::anywhere, environment},
    Check{"environment.leaked_variable", "environment.listed", "clean start", Place::anywhere, leaked_variable},
    Check{"descriptors.open", "descriptors.standard", "close_range", Place::anywhere, descriptors},
    Check{"descriptors.leaked", "descriptors.standard", "close_range", Place::anywhere, leaked_descriptor},
    Check{"descriptors.pipes", "descriptors.standard", "pipes", Place::anywhere, pipes},
    Check{"descriptors.reopen", "descriptors.standard", "pipes", Place::inside, reopen},
    Check{"limits.core", "limits", "RLIMIT_CORE", Place::anywhere, limit_core},
    Check{"limits.processes", "limits.processes", "RLIMIT_NPROC", Place::anywhere, limit_processes},
    Check{"limits.open_files", "limits.open_files", "RLIMIT_NOFILE", Place::anywhere, limit_files},
    Check{"limits.file_size", "limits.file_size", "RLIMIT_FSIZE", Place::anywhere, limit_size},
    Check{"limits.memory", "limits.memory", "RLIMIT_DATA", Place::anywhere, limit_memory},
    Check{"limits.cpu", "limits.cpu", "RLIMIT_CPU", Place::anywhere, limit_cpu},
};

}  // namespace

std::span<const Check> start_checks() { return kChecks; }

}  // namespace cordon::probe
