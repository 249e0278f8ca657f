// SPDX-License-Identifier: Apache-2.0
// The last look before the server runs: is everything that the plan promised really so? The kernel is asked, not our
// memory of what we did. Any mismatch is fatal. It comes after the syscall filter, so that it is seen from where the
// server will stand.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/stage/connects.hpp"
#include "sandbox/stage/container_inside.hpp"
#include "sandbox/stage/egress.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::expected<std::string, Failure> read_file(const char* path) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) {
    return failed(path);
  }
  std::string content(16384, '\0');
  const ssize_t length = ::read(file.get(), content.data(), content.size());
  if (length < 0) {
    return failed(path);
  }
  content.resize(static_cast<std::size_t>(length));
  return content;
}

// The words after "Key:" in /proc/self/status.
std::vector<std::string_view> status_words(std::string_view status, std::string_view key) {
  for (const std::string_view line : text::split(status, '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') {
      continue;
    }
    std::vector<std::string_view> words;
    std::size_t at = key.size() + 1;
    while ((at = line.find_first_not_of(" \t", at)) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end;
    }
    return words;
  }
  return {};
}

Outcome attest_credentials(const Stage& stage, std::string_view status) {
  for (const std::string_view set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    // Only root could empty it, before it was root no more; with no_new_privs there is nothing to gain from it.
    if (set == "CapBnd" && stage.plan.shared_host && (!stage.plan.switch_user || !stage.plan.tool.empty())) {
      continue;
    }
    const auto words = status_words(status, set);
    if (words.size() != 1 || words[0].find_first_not_of('0') != std::string_view::npos) {
      return refuse(text::cat("capabilities are left in ", set));
    }
  }
  if (status_words(status, "NoNewPrivs") != std::vector<std::string_view>{"1"}) {
    return refuse("no_new_privs is not set");
  }
  if (stage.plan.syscall_filter && status_words(status, "Seccomp") != std::vector<std::string_view>{"2"}) {
    return refuse("no syscall filter is in force");
  }
  const std::string uid = std::to_string(stage.plan.uid);
  const std::string gid = std::to_string(stage.plan.gid);
  if (stage.plan.uid == 0 || status_words(status, "Uid") != std::vector<std::string_view>(4, uid) ||
      status_words(status, "Gid") != std::vector<std::string_view>(4, gid)) {
    return refuse("wrong uid or gid");
  }
  if (stage.plan.switch_user && !status_words(status, "Groups").empty()) {
    return refuse("supplementary groups are left");
  }
  return {};
}

Outcome attest_namespaces(const Stage& stage) {
  const auto inside = namespace_inodes();
  if (!inside) {
    return std::unexpected(inside.error());
  }
  // Root's containers live in the machine's user namespace, as another uid and without a capability.
  const std::size_t first = stage.plan.in_container() ? 1 : 0;
  for (std::size_t i = first; i < inside->size(); ++i) {
    if (stage.witness.namespaces[i] == 0 || (*inside)[i] == stage.witness.namespaces[i]) {
      return refuse(text::cat("namespace ", i, " is the one outside"));
    }
  }
  if (::getppid() != 1) {
    return refuse("the parent is not init");
  }
  std::array<char, HOST_NAME_MAX + 1> host = {};
  if (::gethostname(host.data(), host.size() - 1) != 0 || stage.plan.hostname != host.data()) {
    return refuse("the host name is not that of the plan");
  }
  return attest_network(stage);
}

bool is_read_only(const char* path) {
  struct statvfs status = {};
  return ::statvfs(path, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// A folder without entries, something that cannot be opened for reading, or the null device, which engines put over
// files.
bool is_hidden(const char* path) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    return true;
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3)) {
    return true;
  }
  const Folder folder(::opendir(path));
  if (folder == nullptr) {
    return false;
  }
  int entries = 0;
  while (::readdir(folder.get()) != nullptr) {
    ++entries;
  }
  return entries == 2;
}

// A symlink that is mounted on itself: another mount than the folder that it lies in.
bool is_held(const std::string& path) {
  const auto mount_of = [](const std::string& place) -> std::uint64_t {
    struct statx status = {};
    const bool known = ::statx(AT_FDCWD, place.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &status) == 0 &&
                       (status.stx_mask & STATX_MNT_ID) != 0;
    return known ? status.stx_mnt_id : 0;
  };
  const std::uint64_t mount = mount_of(path);
  return mount != 0 && mount != mount_of(std::string(parent_path(path)));
}

Outcome attest_view(const Stage& stage) {
  if (!is_read_only("/")) {
    return refuse("the root is writable");
  }
  for (const ViewEntry& entry : stage.plan.view) {
    const bool there = ::access(entry.target.c_str(), F_OK) == 0;
    if (entry.kind == EntryKind::freeze && there && !is_read_only(entry.target.c_str())) {
      return refuse(text::cat(entry.target, " is writable"));
    }
    if (entry.kind == EntryKind::link) {
      if (!is_held(entry.target)) {
        return refuse(text::cat(entry.target, " steers other programs and can be replaced"));
      }
      continue;
    }
    if (entry.steering && !entry.writable && !is_read_only(entry.target.c_str())) {
      return refuse(text::cat(entry.target, " steers other programs and is writable"));
    }
    if (entry.kind == EntryKind::cover && there && !is_hidden(entry.target.c_str())) {
      return refuse(text::cat(entry.target, " is not hidden"));
    }
  }
  if (auto outcome = stage.plan.in_container() ? attest_container_mounts(stage.plan) : Outcome{}; !outcome) {
    return outcome;
  }
  if (const UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)); terminal) {
    return refuse("there is a terminal");
  }
  return {};
}

// Only the filter stands between the server and the sockets in its grants.
Outcome attest_unix_sockets(const Stage& stage) {
  if (stage.plan.unix_sockets == UnixSockets::allowed || !stage.plan.syscall_filter) {
    return {};
  }
  const UniqueFd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (stage.plan.unix_sockets == UnixSockets::refused) {
    return made ? refuse("a Unix socket can be made") : Outcome{};
  }
  const sockaddr_un nowhere = {.sun_family = AF_UNIX, .sun_path = "/"};
  const auto* address = reinterpret_cast<const sockaddr*>(&nowhere);
  if (made && ::connect(made.get(), address, kImpossibleLength) != 0 && errno == kImpossibleAnswer) {
    return {};
  }
  return refuse("init does not see what connects");
}

// `descriptors`: /proc/self/fd, open; -1: it can be opened.
Outcome attest_descriptors(int descriptors) {
  const Folder folder(descriptors < 0 ? ::opendir("/proc/self/fd")
                                      : ::fdopendir(::fcntl(descriptors, F_DUPFD_CLOEXEC, 0)));
  if (folder == nullptr) {
    return failed("/proc/self/fd");
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view word = entry->d_name;
    int fd = -1;
    if (std::from_chars(word.data(), word.data() + word.size(), fd).ec != std::errc()) {
      continue;  // "." and ".."
    }
    const int flags = ::fcntl(fd, F_GETFD);
    if (fd > STDERR_FILENO && (flags < 0 || (flags & FD_CLOEXEC) == 0)) {
      return refuse(text::cat("descriptor ", fd, " would be inherited"));
    }
  }
  return {};
}

// Landlock does not show in /proc. From ABI 6 on our ruleset forbids signals to init, which is of the same uid.
Outcome attest_landlock(const Stage& stage) {
  if (stage.plan.landlock_abi >= 6 && ::kill(1, 0) == 0) {
    return refuse("Landlock is not in force");
  }
  return {};
}

// Nothing is hidden here, so one thing of each kind is asked for that must be refused.
Outcome attest_refusals(const Stage& stage) {
  for (const char* closed : {"/", "/proc", "/proc/self/environ"}) {
    if (const UniqueFd file(::open(closed, O_RDONLY | O_CLOEXEC)); file || errno != EACCES) {
      return refuse(text::cat("Landlock is not in force: ", closed, " can be opened"));
    }
  }
  if (const UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)); terminal) {
    return refuse("there is a terminal");
  }
  if (stage.plan.landlock_abi >= 6 && ::kill(::getppid(), 0) == 0) {
    return refuse("Landlock is not in force: the guard can be signalled");
  }
  if (stage.plan.syscall_filter) {
    for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}) {
      if (const UniqueFd made(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)); made) {
        return refuse(text::cat("a socket of family ", family, " can be made"));
      }
    }
  }
  return {};
}

Outcome attest_tool_namespaces(const Stage& stage) {
  const auto inside = stage.self_namespaces;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const bool wanted = (stage.plan.tool_namespaces >> i & 1U) != 0;
    if (wanted && (stage.witness.namespaces[i] == 0 || inside[i] == stage.witness.namespaces[i])) {
      return refuse(text::cat("namespace ", i, " is the one outside"));
    }
  }
  return {};
}

Outcome attest_shared(const Stage& stage) {
  std::string status(16384, '\0');
  const ssize_t length = ::pread(stage.self_status.get(), status.data(), status.size(), 0);
  if (length <= 0) {
    return failed("/proc/self/status");
  }
  status.resize(static_cast<std::size_t>(length));
  for (const Outcome& outcome : {attest_credentials(stage, status), attest_tool_namespaces(stage),
                                 attest_refusals(stage), attest_descriptors(stage.self_descriptors.get())}) {
    if (!outcome) {
      return outcome;
    }
  }
  return {};
}

}  // namespace

Outcome identify_sources(Stage& stage) {
  const auto& view = stage.plan.view;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view[i].kind != EntryKind::bind || view[i].optional) {
      continue;
    }
    const auto covers = [&](const ViewEntry& later) {
      return later.kind == EntryKind::cover && later.target == view[i].target;
    };
    if (std::any_of(view.begin(), view.end(), covers)) {
      continue;
    }
    const auto place = open_exactly(view[i].target);
    struct stat status = {};
    if (!place || ::fstat(place->get(), &status) != 0) {
      return refuse(text::cat(view[i].target, ": not there"));
    }
    if (FileIdentity{status.st_dev, status.st_ino} != stage.witness.sources.at(i)) {
      return refuse(text::cat(view[i].target, ": not what was checked before; it changed while it was mounted"));
    }
  }
  return {};
}

Outcome attest(Stage& stage) {
  if (stage.plan.shared_host) {
    return attest_shared(stage);
  }
  const auto status = read_file("/proc/self/status");
  if (!status) {
    return std::unexpected(status.error());
  }
  for (const Outcome& outcome :
       {attest_credentials(stage, *status), attest_namespaces(stage), attest_view(stage), attest_unix_sockets(stage),
        attest_descriptors(-1), attest_landlock(stage), attest_groups(stage)}) {
    if (!outcome) {
      return outcome;
    }
  }
  return {};
}

}  // namespace cordon::sandbox::stage
