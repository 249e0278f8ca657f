// SPDX-License-Identifier: Apache-2.0
// New namespaces, and the one network interface in them.
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

Outcome write_file(const char* path, std::string_view content) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    // AppArmor lets the namespace come into being and takes the power out of it: this is where it shows.
    return failed(text::cat("write ", path), errno == EPERM || errno == EACCES ? "userns_denied" : "");
  }
  return {};
}

}  // namespace

std::expected<std::array<std::uint64_t, 7>, Failure> namespace_inodes() {
  constexpr std::array kNames = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
  std::array<std::uint64_t, kNames.size()> inodes = {};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    struct stat status = {};
    const std::string path = text::cat("/proc/self/ns/", kNames[i]);
    if (::stat(path.c_str(), &status) != 0) {
      return failed(path);
    }
    inodes[i] = status.st_ino;
  }
  return inodes;
}

Outcome enter_namespaces(Stage& stage) {
  const auto outside = namespace_inodes();
  if (!outside) {
    return std::unexpected(outside.error());
  }
  stage.witness.namespaces = *outside;
  constexpr int kAllButPid = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  // The next child is pid 1 of it. An agent, which is to stay outside, comes before that.
  if (::unshare(stage.plan.network.doors.agent ? kAllButPid : kAllButPid | CLONE_NEWPID) != 0) {
    return failed("unshare", "userns_denied");
  }
  // One id, mapped to itself: without privilege outside no other is possible, and none is needed.
  if (auto outcome = write_file("/proc/self/setgroups", "deny"); !outcome) {
    return outcome;
  }
  if (auto outcome = write_file("/proc/self/uid_map", text::cat(stage.plan.uid, " ", stage.plan.uid, " 1\n"));
      !outcome) {
    return outcome;
  }
  if (auto outcome = write_file("/proc/self/gid_map", text::cat(stage.plan.gid, " ", stage.plan.gid, " 1\n"));
      !outcome) {
    return outcome;
  }
  // From here on nobody of our uid outside may trace us or read our memory.
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) {
    return failed("prctl DUMPABLE");
  }
  return die_with_parent();
}

Outcome raise_loopback(Stage&) {
  const UniqueFd socket_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_fd) {
    return failed("socket");
  }
  ifreq request = {};
  std::memcpy(request.ifr_name, "lo", sizeof "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0) {
    return failed("lo up", errno == EPERM ? "userns_denied" : "");
  }
  return {};
}

Outcome set_hostname(Stage& stage) {
  if (::sethostname(stage.plan.hostname.data(), stage.plan.hostname.size()) != 0) {
    return failed("sethostname");
  }
  constexpr std::string_view kNoDomain = "(none)";
  if (::setdomainname(kNoDomain.data(), kNoDomain.size()) != 0) {
    return failed("setdomainname");
  }
  return {};
}

}  // namespace cordon::sandbox::stage
