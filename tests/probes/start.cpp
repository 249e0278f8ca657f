// SPDX-License-Identifier: Apache-2.0
// What the server is given: credentials, environment, descriptors, limits.
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.hpp"

extern char** environ;

namespace cordon::probe {
namespace {

std::string environment_names() {
  std::string names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    names += (names.empty() ? "" : ",") + variable.substr(0, variable.find('='));
  }
  return names;
}

std::string open_descriptors() {
  std::string list;
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) {
      list += (list.empty() ? "" : ",") + std::to_string(fd);
    }
  }
  return list;
}

std::string kinds_of_standard_descriptors() {
  std::string kinds;
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat status = {};
    kinds += ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) ? 'p' : '?';
  }
  return kinds;
}

// "Key:" of /proc/self/status with blanks as commas.
std::string status_field(const char* key) {
  FILE* file = std::fopen("/proc/self/status", "re");
  char line[512] = {};
  std::string value;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, key, std::strlen(key)) == 0 && line[std::strlen(key)] == ':') {
      for (const char* at = std::strtok(line + std::strlen(key) + 1, " \t\n"); at != nullptr;
           at = std::strtok(nullptr, " \t\n")) {
        value += (value.empty() ? "" : ",") + std::string(at);
      }
    }
  }
  if (file != nullptr) {
    std::fclose(file);
  }
  return value;
}

std::string limit(__rlimit_resource resource) {
  rlimit value = {};
  ::getrlimit(resource, &value);
  return value.rlim_cur == value.rlim_max ? std::to_string(value.rlim_max) : "soft and hard differ";
}

}  // namespace

void check_start(const Canaries& canaries) {
  const std::string uid = canaries.at("uid");
  compare("uid", uid + "," + uid + "," + uid + "," + uid, status_field("Uid"));
  compare("gid", uid + "," + uid + "," + uid + "," + uid, status_field("Gid"));
  compare("groups", "", status_field("Groups"));
  check("become_root", "denied", [] { return result_of(::setuid(0)); });
  check("set_groups", "denied", [] {
    const gid_t group = 0;
    return result_of(::setgroups(1, &group));
  });
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    compare(set, "0000000000000000", status_field(set));
  }
  compare("no_new_privs", "1", status_field("NoNewPrivs"));
  compare("seccomp", "2", status_field("Seccomp"));
  compare("session_is_own", "yes", ::getsid(0) == ::getpid() ? "yes" : "no");
  compare("signals_blocked", "0000000000000000", status_field("SigBlk"));
  compare("umask", "0022", status_field("Umask"));
  char folder[4096] = {};
  compare("working_directory", "/home/cordon", ::getcwd(folder, sizeof folder) != nullptr ? folder : "none");
  compare("environment", "PATH,HOME,LANG", environment_names());
  compare("leaked_variable", "no", ::getenv(canaries.at("variable").c_str()) == nullptr ? "no" : "yes");
  compare("descriptors", "0,1,2", open_descriptors());
  compare("standard_descriptors_are_pipes", "ppp", kinds_of_standard_descriptors());
  check("leaked_descriptor", "EBADF",
        [&] { return result_of(::fcntl(std::atoi(canaries.at("descriptor").c_str()), F_GETFD)); });
  check("reopen_stdin", "allowed", [] { return result_of(::open("/dev/stdin", O_RDONLY | O_CLOEXEC | O_NONBLOCK)); });
  compare("limit_core", "0", limit(RLIMIT_CORE));
  compare("limit_processes", canaries.at("processes"), limit(RLIMIT_NPROC));
  compare("limit_open_files", canaries.at("open_files"), limit(RLIMIT_NOFILE));
  compare("limit_file_size", canaries.at("file_size"), limit(RLIMIT_FSIZE));
  compare("limit_memory", canaries.at("memory"), limit(RLIMIT_DATA));
  compare("limit_cpu", canaries.at("cpu"), limit(RLIMIT_CPU));
}

}  // namespace cordon::probe
