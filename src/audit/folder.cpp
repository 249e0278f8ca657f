// SPDX-License-Identifier: Apache-2.0
#include "audit/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <ranges>

#include "audit/record.hpp"
#include "base/text.hpp"

namespace cordon::audit {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kTimeBytes = 23;  // of "20261129T151007.123456Z"
constexpr int kLockAttempts = 1000;
constexpr int kLockPauseMs = 5;
constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

std::unexpected<Error> unavailable(std::string detail, const std::string& path, std::string remedy = {}) {
  return fail(Errc::audit_unavailable, std::move(detail), text::printable(path), std::move(remedy));
}

Status check_owner(int fd, const std::string& path) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) {
    return unavailable(errno_text("fstat", errno), path);
  }
  if (info.st_uid != ::geteuid()) {
    return unavailable(text::cat("belongs to user ", info.st_uid, ", not to user ", ::geteuid()), path,
                       text::cat("chown ", ::geteuid(), " ", text::printable(path)));
  }
  if ((info.st_mode & kOthersMayWrite) != 0) {
    return unavailable("others may write to it", path, text::cat("chmod go-w ", text::printable(path)));
  }
  return {};
}

Result<UniqueFd> open_folder(int at, const std::string& name, const std::string& path) {
  UniqueFd fd(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    return unavailable(errno_text("open folder", errno), path);
  }
  if (Status owner = check_owner(fd.get(), path); !owner) {
    return std::unexpected(owner.error());
  }
  return fd;
}

// Every missing folder of an absolute path, private. What exists is not judged here: the caller checks the last one.
Status make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return unavailable(errno_text("create folder", errno), part);
    }
    if (slash == std::string::npos) {
      return {};
    }
  }
}

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

Result<std::vector<std::string>> names_in(int folder, const std::string& path) {
  // A descriptor of its own: readdir moves the offset of the description.
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::unique_ptr<DIR, CloseDir> dir(again ? ::fdopendir(again.get()) : nullptr);
  if (!dir) {
    return unavailable(errno_text("read folder", errno), path);
  }
  again.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    names.emplace_back(entry->d_name);
  }
  if (errno != 0) {
    return unavailable(errno_text("read folder", errno), path);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

bool is_log_name(std::string_view name) {
  if (!name.ends_with(kSuffix) || name.size() < kTimeBytes + 2 + kSuffix.size() || !parse_file_time(name)) {
    return false;
  }
  const std::string_view id = name.substr(kTimeBytes, name.size() - kTimeBytes - kSuffix.size());
  return id.front() == '-' && std::ranges::all_of(id, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
         });
}

Result<Folder> Folder::create(const std::string& state_dir, const std::string& server) {
  if (!state_dir.starts_with('/') || server.empty() || server.front() == '.' || server.contains('/')) {
    return unavailable("not a place for audit logs", text::cat(state_dir, "/audit/", server));
  }
  const std::string path = text::cat(state_dir, "/audit/", server);
  if (Status made = make_folders(path); !made) {
    return std::unexpected(made.error());
  }
  return open(state_dir, server);
}

Result<Folder> Folder::open(const std::string& state_dir, const std::string& server) {
  Folder folder;
  folder.path_ = text::cat(state_dir, "/audit/", server);
  UniqueFd state(::open(state_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!state) {
    return unavailable(errno_text("open folder", errno), state_dir);
  }
  if (Status owner = check_owner(state.get(), state_dir); !owner) {
    return std::unexpected(owner.error());
  }
  auto audit = open_folder(state.get(), "audit", text::cat(state_dir, "/audit"));
  if (!audit) {
    return std::unexpected(audit.error());
  }
  auto own = open_folder(audit->get(), server, folder.path_);
  if (!own) {
    return std::unexpected(own.error());
  }
  folder.fd_ = std::move(*own);
  return folder;
}

std::string Folder::path_of(std::string_view name) const { return text::cat(path_, "/", name); }

Result<std::vector<std::string>> Folder::logs() const {
  auto names = names_in(fd_.get(), path_);
  if (names) {
    std::erase_if(*names, [](const std::string& name) { return !is_log_name(name); });
  }
  return names;
}

Result<UniqueFd> Folder::lock() const {
  constexpr const char* kName = "lock";
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    UniqueFd fd(::openat(fd_.get(), kName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) {
      return unavailable(errno_text("open", errno), path_of(kName));
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      // Whoever removed the file in between may have let a second launch in.
      struct stat held{};
      struct stat named{};
      if (::fstat(fd.get(), &held) == 0 && ::fstatat(fd_.get(), kName, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
          held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
        return fd;
      }
    } else if (errno != EWOULDBLOCK && errno != EINTR) {
      return unavailable(errno_text("flock", errno), path_of(kName));
    }
    ::poll(nullptr, 0, kLockPauseMs);
  }
  return unavailable("another launch holds the lock", path_of(kName), "end it, or wait");
}

Result<UniqueFd> Folder::open_log(const std::string& name, int flags) const {
  UniqueFd fd(::openat(fd_.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return unavailable(errno_text("open", errno), path_of(name));
  }
  if (!S_ISREG(info.st_mode)) {
    return unavailable("not a regular file", path_of(name));
  }
  if (Status owner = check_owner(fd.get(), path_of(name)); !owner) {
    return std::unexpected(owner.error());
  }
  return fd;
}

Result<std::vector<std::string>> servers_with_logs(const std::string& state_dir) {
  const std::string path = text::cat(state_dir, "/audit");
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    return unavailable(errno_text("open folder", errno), path);
  }
  auto names = names_in(fd.get(), path);
  if (names) {
    std::erase_if(*names, [](const std::string& name) { return name.starts_with('.'); });
  }
  return names;
}

bool is_live(int fd) {
  // A shared lock can be had exactly when no writer holds its exclusive one.
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK;
  }
  ::flock(fd, LOCK_UN);
  return false;
}

namespace {

Status verify_one(Verifier& verifier, const Folder& folder, const std::string& name) {
  auto fd = folder.open_log(name, O_RDONLY);
  if (!fd) {
    verifier.unreadable_file(name, fd.error().detail);
    return {};
  }
  // Asked first: a process that ends in between leaves a complete file.
  verifier.begin_file(name, is_live(fd->get()) ? FileState::live : FileState::ended);
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(fd->get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return unavailable(errno_text("read", errno), folder.path_of(name));
    }
    if (count == 0) {
      verifier.end_file();
      return {};
    }
    verifier.feed(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  }
}

}  // namespace

Result<VerifyReport> verify_folder(const Folder& folder, const std::optional<Head>& expected) {
  auto names = folder.logs();
  if (!names) {
    return std::unexpected(names.error());
  }
  Verifier verifier;
  if (expected) {
    verifier.expect(*expected);
  }
  for (const std::string& name : *names | std::views::reverse) {
    if (Status done = verify_one(verifier, folder, name); !done) {
      return std::unexpected(done.error());
    }
  }
  return verifier.finish();
}

}  // namespace cordon::audit
