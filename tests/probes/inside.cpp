// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <net/if.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.hpp"

namespace cordon::probe {
namespace {

std::string first_line(const std::string& path) {
  char buffer[256] = {};
  FILE* file = std::fopen(path.c_str(), "re");
  if (file != nullptr) {
    const std::size_t length = std::fread(buffer, 1, sizeof buffer - 1, file);
    buffer[length] = '\0';
    std::fclose(file);
  }
  return buffer;
}

int count_processes() {
  int count = 0;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = folder != nullptr ? ::readdir(folder) : nullptr) {
    count += std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0 ? 1 : 0;
  }
  if (folder != nullptr) {
    ::closedir(folder);
  }
  return count;
}

bool only_loopback() {
  struct if_nameindex* list = ::if_nameindex();
  const bool only =
      list != nullptr && list[0].if_index != 0 && std::strcmp(list[0].if_name, "lo") == 0 && list[1].if_index == 0;
  if (list != nullptr) {
    ::if_freenameindex(list);
  }
  return only;
}

// Not a single sign but all of them: pid 1 is a stage of ours, it is our parent, there are only its children, and the
// only interface is lo.
std::string missing_proof() {
  const std::string init = first_line("/proc/1/cmdline");
  if (init != "mcp-cordon-stage" && init != "/proc/self/fd/9") {
    return "pid 1 is not the stage";
  }
  if (::getppid() != 1 || ::getpid() > 16) {
    return "not a child of pid 1";
  }
  if (count_processes() != 2) {
    return "other processes are in view";
  }
  if (!only_loopback()) {
    return "lo is not the only interface";
  }
  utsname names = {};
  if (::uname(&names) != 0 || std::strcmp(names.nodename, "cordon") != 0) {
    return "the host name is not the sandbox's";
  }
  return {};
}

void print(const std::string& id, const std::string& expected, const std::string& got, int error_number) {
  std::printf(R"({"id":"%s","expected":"%s","got":"%s","errno":%d})"
              "\n",
              id.c_str(), expected.c_str(), got.c_str(), error_number);
  std::fflush(stdout);
}

}  // namespace

void compare(const std::string& id, const std::string& expected, const std::string& got) {
  print(id, expected, got, 0);
}

void check(const std::string& id, const std::string& expected, const Attempt& attempt) {
  const int error_number = attempt();
  std::string got = "allowed";
  if (error_number != 0) {
    const char* name = ::strerrorname_np(error_number);
    got = expected == "denied" ? "denied" : name != nullptr ? name : std::to_string(error_number);
  }
  print(id, expected, got, error_number);
}

int result_of(long returned) { return returned < 0 ? errno : 0; }

int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) {
    return -1;
  }
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace cordon::probe

int main(int argc, char** argv) {
  using namespace cordon::probe;
  const std::string missing = missing_proof();
  compare("inside", "yes", missing.empty() ? "yes" : missing);
  if (!missing.empty()) {
    return kNotInside;
  }
  Canaries canaries;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos) {
      canaries[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  if (check_only_listed_sockets(canaries)) {
    return 0;
  }
  check_start(canaries);
  check_files(canaries);
  check_what_grants_reach(canaries);
  check_procfs(canaries);
  check_processes(canaries);
  check_network(canaries);
  check_syscalls(canaries);
  compare("complete", "yes", "yes");
  return 0;
}
