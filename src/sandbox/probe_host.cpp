// SPDX-License-Identifier: Apache-2.0
#include "sandbox/probe_host.hpp"

#include <limits.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/probe_parts.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/syscall_filter.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

// Whom a server runs as when root starts it and the policy names nobody.
constexpr std::uint32_t kUnusedId = 65534;

void find_account(const LaunchSpec& spec, HostFacts& facts) {
  facts.server_uid = facts.root() ? kUnusedId : facts.uid;
  facts.server_gid = facts.root() ? kUnusedId : facts.gid;
  if (!spec.user) {
    return;
  }
  std::array<char, 4096> buffer = {};
  passwd entry = {};
  passwd* found = nullptr;
  const int rc = ::getpwnam_r(spec.user->c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (rc != 0 || found == nullptr) {
    facts.user_error = text::cat("no account '", text::printable(*spec.user), "'");
  } else if (!facts.root() && found->pw_uid != facts.uid) {
    facts.user_error = text::cat("only root can start a server as '", text::printable(*spec.user), "'");
  } else if (found->pw_uid == 0 || found->pw_gid == 0) {
    facts.user_error = text::cat("'", text::printable(*spec.user), "' is root");
  } else {
    facts.server_uid = found->pw_uid;
    facts.server_gid = found->pw_gid;
  }
}

// /etc/java-17-openjdk and its kin, in order.
std::vector<std::string> java_settings() {
  std::vector<std::string> list;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/etc", error), end; !error && at != end; at.increment(error)) {
    if (std::string path = at->path(); path.starts_with("/etc/java")) {
      list.push_back(std::move(path));
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<SystemPath> look_at_system() {
  std::vector<std::string> paths(system_path_list().begin(), system_path_list().end());
  std::ranges::move(java_settings(), std::back_inserter(paths));
  std::vector<SystemPath> list;
  for (std::string& path : paths) {
    SystemPath one{.path = std::move(path)};
    struct stat status = {};
    if (::lstat(one.path.c_str(), &status) == 0) {
      one.kind = S_ISDIR(status.st_mode)   ? PathKind::directory
                 : S_ISREG(status.st_mode) ? PathKind::file
                 : S_ISLNK(status.st_mode) ? PathKind::symlink
                                           : PathKind::other;
    }
    if (one.kind == PathKind::symlink) {
      std::array<char, PATH_MAX> target = {};
      const ssize_t length = ::readlink(one.path.c_str(), target.data(), target.size());
      one.link.assign(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    }
    list.push_back(std::move(one));
  }
  return list;
}

bool can_filter() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

}  // namespace

Result<HostFacts> probe_host(const LaunchSpec& spec, const std::string& home, ProbeDepth depth) {
  HostFacts facts;
  facts.uid = ::geteuid();
  facts.gid = ::getegid();
  if (!home.empty()) {
    std::array<char, PATH_MAX> resolved = {};
    facts.home = ::realpath(home.c_str(), resolved.data()) == nullptr ? std::string() : std::string(resolved.data());
    if (home.front() != '/') {
      return fail(Errc::launch_failed, "HOME is not an absolute path", text::printable(home));
    }
  }
  find_account(spec, facts);
  const int abi = kernel::landlock_create_ruleset(nullptr, 0, 1);
  facts.landlock_abi = abi > 0 ? abi : 0;
  facts.seccomp = can_filter();
  facts.architecture = filter_architecture();
  facts.system_paths = look_at_system();
  if (spec.image.reference.empty()) {
    facts.program = probe_program(spec, facts.home);
  }
  for (const Mount& mount : spec.mounts) {
    if (is_normal_path(mount.source)) {
      facts.sources.push_back(probe_source(mount.source));
    }
  }
  for (const std::string& path : spec.unix_sockets) {
    if (is_normal_path(path)) {
      facts.sources.push_back(probe_source(path));
    }
  }
  if (spec.backend != BackendChoice::none) {
    find_steering(spec, facts);
  }
  const bool everything = depth == ProbeDepth::everything;
  const bool own = everything || spec.backend == BackendChoice::automatic || spec.backend == BackendChoice::native;
  if (own) {
    facts.namespaces = try_namespaces(facts);
  }
  if (everything || spec.backend == BackendChoice::bubblewrap ||
      (spec.backend == BackendChoice::automatic && !facts.namespaces.works)) {
    facts.bubblewrap = probe_bubblewrap(facts);
  }
  if (everything || spec.limits.memory_bytes) {
    facts.groups = probe_groups();
  }
  if (everything || spec.backend == BackendChoice::podman) {
    facts.podman = probe_podman(spec, facts);
  }
  if (everything || spec.backend == BackendChoice::docker) {
    facts.docker = probe_docker(spec, facts);
  }
  if (everything || spec.backend == BackendChoice::firejail) {
    facts.firejail = probe_firejail(facts);
  }
  if (everything || spec.backend == BackendChoice::srt) {
    facts.srt = probe_srt(spec.srt, facts);
  }
  return facts;
}

}  // namespace cordon::sandbox
