// SPDX-License-Identifier: Apache-2.0
// The folder of one launch by a container engine, and what is left of launches all of whose processes were killed.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "base/text.hpp"
#include "sandbox/seccomp_profile.hpp"
#include "sandbox/stage/container.hpp"
#include "sandbox/syscall_filter.hpp"

namespace cordon::sandbox::stage {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

constexpr std::string_view kNamePrefix = "mcp-cordon-";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kRandomBytes = 8;

constexpr std::array<const char*, 5> kFiles = {"socket", "seccomp.json", "nothing", "resolv.conf", "hosts"};
constexpr std::array<const char*, 3> kFolders = {"empty", "grants", "root"};

std::string random_word() {
  std::array<unsigned char, kRandomBytes> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return {};
  }
  std::string word;
  for (const unsigned char byte : bytes) {
    word += kDigits[byte >> 4U];
    word += kDigits[byte & 15U];
  }
  return word;
}

Outcome put_file(const Stage& stage, const char* name, std::string_view content, mode_t mode) {
  const UniqueFd file(
      ::openat(stage.container_folder.get(), name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || ::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::fchmod(file.get(), mode) != 0) {
    return failed(text::cat(stage.container_path, "/", name));
  }
  return {};
}

Outcome listen_for_init(Stage& stage) {
  stage.container_listener = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // Short, whatever the length of the path.
  const std::string path = text::cat("/proc/self/fd/", stage.container_folder.get(), "/socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (!stage.container_listener ||
      ::bind(stage.container_listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(stage.container_listener.get(), 1) != 0 ||
      // Only who can reach the folder, or has the socket mounted, gets that far.
      ::fchmodat(stage.container_folder.get(), "socket", 0666, 0) != 0) {
    return failed(text::cat(stage.container_path, "/socket"));
  }
  return {};
}

// Runtimes make places for mounts in an empty root. Nothing is followed out of it.
void remove_below(int folder) {
  const std::unique_ptr<DIR, CloseFolder> list(::fdopendir(::fcntl(folder, F_DUPFD_CLOEXEC, 0)));
  std::vector<std::string> names;
  while (const dirent* entry = list != nullptr ? ::readdir(list.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno != EISDIR) {
      continue;
    }
    if (const UniqueFd inner(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)); inner) {
      remove_below(inner.get());
    }
    (void)::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

void empty_folder(int folder) {
  for (const char* file : kFiles) {
    (void)::unlinkat(folder, file, 0);
  }
  if (const UniqueFd root(::openat(folder, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)); root) {
    remove_below(root.get());
  }
  for (const char* inner : kFolders) {
    (void)::unlinkat(folder, inner, AT_REMOVEDIR);
  }
}

// Nobody has a lock on it, and it is not one that is just being made.
bool is_abandoned(int folder) {
  constexpr std::time_t kYoungSeconds = 60;
  struct stat status = {};
  return ::fstat(folder, &status) == 0 && std::time(nullptr) - status.st_ctime > kYoungSeconds &&
         ::flock(folder, LOCK_EX | LOCK_NB) == 0;
}

// Removes what launches have left of which no process was able to.
void sweep(const Stage& stage, int scratch) {
  const UniqueFd readable(::openat(scratch, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseFolder> list(readable ? ::fdopendir(::fcntl(readable.get(), F_DUPFD_CLOEXEC, 0))
                                                        : nullptr);
  while (const dirent* entry = list != nullptr ? ::readdir(list.get()) : nullptr) {
    const std::string word = entry->d_name;
    if (word.size() != 2 * kRandomBytes || word.find_first_not_of(kDigits) != std::string::npos) {
      continue;
    }
    const UniqueFd folder(::openat(scratch, word.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder && is_abandoned(folder.get())) {
      remove_container(stage, text::cat(kNamePrefix, word));
      empty_folder(folder.get());
      (void)::unlinkat(scratch, word.c_str(), AT_REMOVEDIR);
    }
  }
}

}  // namespace

Outcome make_container_folder(Stage& stage) {
  const std::string word = random_word();
  if (word.empty()) {
    return failed("getrandom");
  }
  const auto scratch = open_exactly(stage.plan.container.scratch);
  if (!scratch) {
    return std::unexpected(scratch.error());
  }
  sweep(stage, scratch->get());
  stage.container_name = text::cat(kNamePrefix, word);
  stage.container_path = text::cat(stage.plan.container.scratch, "/", word);
  if (::mkdirat(scratch->get(), word.c_str(), 0700) != 0) {
    return failed(stage.container_path);
  }
  stage.container_folder =
      UniqueFd(::openat(scratch->get(), word.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!stage.container_folder || ::flock(stage.container_folder.get(), LOCK_SH | LOCK_NB) != 0) {
    return failed(stage.container_path);
  }
  for (const char* folder : kFolders) {
    if (::mkdirat(stage.container_folder.get(), folder, 0755) != 0) {
      return failed(stage.container_path);
    }
  }
  if (auto put = put_file(stage, "seccomp.json", seccomp_profile(filter_architecture()), 0600); !put) {
    return put;
  }
  if (auto put = put_file(stage, "nothing", {}, 0); !put) {
    return put;
  }
  if (stage.plan.network.hosts()) {
    const std::string resolver = egress::resolver_text(stage.plan.network.rules);
    if (auto put = put_file(stage, "resolv.conf", resolver, 0444); !put) {
      return put;
    }
    const std::string hosts = text::cat("127.0.0.1 localhost ", stage.plan.hostname, "\n::1 localhost\n",
                                        egress::hosts_text(stage.plan.network.doors));
    if (auto put = put_file(stage, "hosts", hosts, 0444); !put) {
      return put;
    }
  }
  return listen_for_init(stage);
}

void remove_container_folder(Stage& stage) {
  if (!stage.container_folder) {
    return;
  }
  // Prepared mounts are ours alone; the container has its own by now.
  (void)::umount2(text::cat(stage.container_path, "/grants").c_str(), MNT_DETACH);
  empty_folder(stage.container_folder.get());
  (void)::rmdir(stage.container_path.c_str());
  stage.container_folder.reset();
}

}  // namespace cordon::sandbox::stage
