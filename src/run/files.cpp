// SPDX-License-Identifier: Apache-2.0
#include "run/files.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::run {
namespace {

std::unexpected<Error> unreadable(std::string detail, const std::string& path, std::string remedy = {}) {
  return fail(Errc::file_unreadable, std::move(detail), text::printable(path), std::move(remedy));
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

FileIdentity identity_of(const struct stat& info) {
  return {info.st_dev,
          info.st_ino,
          static_cast<std::uint64_t>(info.st_size),
          nanoseconds(info.st_mtim),
          nanoseconds(info.st_ctim),
          info.st_uid,
          info.st_mode};
}

std::string link_target(int folder, const std::string& name) {
  std::array<char, 4096> target;
  const ssize_t length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::unexpected<Error> open_failed(int error_number, const TrustedPlace& place) {
  if (error_number == ELOOP) {
    return fail(Errc::file_untrusted, "a symlink in place of the file", text::printable(place.path()),
                text::cat("name the file itself: ", shell_word(link_target(place.folder.get(), place.name))));
  }
  std::string remedy;
  if (error_number == EACCES) {
    remedy = text::cat("chmod u+r ", shell_word(place.path()));
  }
  return unreadable(errno_text("open", error_number), place.path(), std::move(remedy));
}

Result<std::string> read_all(int fd, const std::string& path, std::uint64_t max_bytes) {
  std::string content;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return unreadable(errno_text("read", errno), path);
    }
    if (count == 0) {
      return content;
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > max_bytes) {
      return unreadable(text::cat("larger than ", max_bytes, " bytes"), path);
    }
  }
}

bool is_missing(const TrustedPlace& place) {
  struct stat info{};
  return ::fstatat(place.folder.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

Result<OpenedFile> open_at(const TrustedPlace& place, const TrustRules& rules) {
  // O_NONBLOCK: opening a FIFO or a device must not hang; it is refused right after.
  OpenedFile out;
  out.path = place.path();
  out.fd = UniqueFd(
      ::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (!out.fd || ::fstat(out.fd.get(), &info) != 0) {
    return open_failed(errno, place);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Errc::file_untrusted, "not a regular file", text::printable(out.path));
  }
  if (Status trusted = check_trusted_file(info, out.path, rules.user.value_or(::geteuid())); !trusted) {
    return std::unexpected(trusted.error());
  }
  if (static_cast<std::uint64_t>(info.st_size) > rules.max_bytes) {
    return unreadable(text::cat("larger than ", rules.max_bytes, " bytes"), out.path);
  }
  out.identity = identity_of(info);
  return out;
}

Result<TrustedFile> read_opened(const OpenedFile& opened, const TrustRules& rules) {
  auto content = read_all(opened.fd.get(), opened.path, rules.max_bytes);
  if (!content) {
    return std::unexpected(content.error());
  }
  // Half of an old and half of a new file must not be taken for a file.
  struct stat after{};
  if (::fstat(opened.fd.get(), &after) != 0 || identity_of(after) != opened.identity ||
      content->size() != opened.identity.size) {
    return unreadable("the file changed while it was read", opened.path, "try again");
  }
  return TrustedFile{opened.path, std::move(*content), opened.identity};
}

}  // namespace

Result<OpenedFile> open_trusted(const std::string& path, const TrustRules& rules) {
  const auto place = walk_to_file(path, rules.user.value_or(::geteuid()));
  if (!place) {
    return std::unexpected(place.error());
  }
  return open_at(*place, rules);
}

Result<TrustedFile> read_trusted(const std::string& path, const TrustRules& rules) {
  const auto opened = open_trusted(path, rules);
  if (!opened) {
    return std::unexpected(opened.error());
  }
  return read_opened(*opened, rules);
}

Result<std::optional<TrustedFile>> read_trusted_if_present(const std::string& path, const TrustRules& rules) {
  const auto place = walk_to_file(path, rules.user.value_or(::geteuid()));
  if (!place) {
    const bool missing =
        place.error().code == Errc::file_unreadable && place.error().detail == errno_text("open", ENOENT);
    return missing ? Result<std::optional<TrustedFile>>(std::nullopt) : std::unexpected(place.error());
  }
  if (is_missing(*place)) {
    return std::nullopt;
  }
  const auto opened = open_at(*place, rules);
  if (!opened) {
    return std::unexpected(opened.error());
  }
  auto file = read_opened(*opened, rules);
  if (!file) {
    return std::unexpected(file.error());
  }
  return std::optional(std::move(*file));
}

Result<std::string> ensure_private_folder(const std::string& path) {
  const auto place = walk_to_folder(path, ::geteuid(), Missing::create);
  if (!place) {
    return std::unexpected(place.error());
  }
  struct stat info{};
  if (::fstat(place->folder.get(), &info) != 0) {
    return unreadable(errno_text("fstat", errno), place->folder_path);
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(Errc::file_untrusted, "the folder must belong to you and be writable by nobody else",
                text::printable(place->folder_path),
                text::cat("chown ", ::geteuid(), " ", shell_word(place->folder_path), " && chmod go-w ",
                          shell_word(place->folder_path)));
  }
  return place->folder_path;
}

namespace {

// A file that is removed again unless it got its final name.
class Temporary {
 public:
  static Result<Temporary> create(const TrustedPlace& place) {
    Digest random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
      return unreadable(errno_text("getrandom", errno), place.path());
    }
    Temporary out;
    out.name_ = text::cat(".", place.name.substr(0, 180), ".", hex(random).substr(0, 16), ".tmp");
    out.fd_ = UniqueFd(
        ::openat(place.folder.get(), out.name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out.fd_) {
      return unreadable(errno_text("create a file beside it", errno), place.path());
    }
    out.folder_ = place.folder.get();
    return out;
  }
  Temporary(Temporary&& other) noexcept
      : folder_(std::exchange(other.folder_, -1)), fd_(std::move(other.fd_)), name_(std::move(other.name_)) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (folder_ >= 0) {
      ::unlinkat(folder_, name_.c_str(), 0);
    }
  }

  Status fill(std::string_view content, mode_t mode, const std::string& path) {
    while (!content.empty()) {
      const ssize_t count = ::write(fd_.get(), content.data(), content.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0) {
        return unreadable(errno_text("write", errno), path);
      }
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    if (::fchmod(fd_.get(), mode) != 0 || ::fsync(fd_.get()) != 0) {
      return unreadable(errno_text("fsync", errno), path);
    }
    return {};
  }

  Status move_to(const std::string& name, Replace replace, const std::string& path) {
    if (replace == Replace::existing) {
      if (::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) {
        return unreadable(errno_text("rename", errno), path);
      }
      folder_ = -1;
      return {};
    }
    // A second name and not RENAME_NOREPLACE, which some file systems lack; our first name goes in the destructor.
    if (::linkat(folder_, name_.c_str(), folder_, name.c_str(), 0) != 0) {
      return unreadable(errno_text("create", errno), path);
    }
    return {};
  }

 private:
  Temporary() = default;
  int folder_ = -1;  // borrowed
  UniqueFd fd_ = {};
  std::string name_ = {};
};

Status check_replaceable(const TrustedPlace& place, Replace replace) {
  struct stat info{};
  if (::fstatat(place.folder.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status() : unreadable(errno_text("stat", errno), place.path());
  }
  if (replace == Replace::never) {
    return unreadable(errno_text("create", EEXIST), place.path());
  }
  if (S_ISLNK(info.st_mode)) {
    return open_failed(ELOOP, place);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Errc::file_untrusted, "not a regular file", text::printable(place.path()));
  }
  return {};
}

Status sync_folder(const TrustedPlace& place) {
  const UniqueFd folder(::openat(place.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) {
    return unreadable(errno_text("fsync", errno), place.folder_path);
  }
  return {};
}

}  // namespace

Status write_atomic(const std::string& path, std::string_view content, const WriteOptions& options) {
  const auto place = walk_to_file(path, ::geteuid());
  if (!place) {
    return std::unexpected(place.error());
  }
  if (Status free = check_replaceable(*place, options.replace); !free) {
    return free;
  }
  {
    auto temporary = Temporary::create(*place);
    if (!temporary) {
      return std::unexpected(temporary.error());
    }
    if (Status filled = temporary->fill(content, options.mode, place->path()); !filled) {
      return filled;
    }
    if (Status moved = temporary->move_to(place->name, options.replace, place->path()); !moved) {
      return moved;
    }
  }
  return sync_folder(*place);
}

}  // namespace cordon::run
