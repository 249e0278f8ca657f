// SPDX-License-Identifier: Apache-2.0
#include "run/trust.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace cordon::run {
namespace {

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
constexpr int kMaxSymlinks = 40;  // as the kernel

std::unexpected<Error> unreadable(std::string_view what, int error_number, const std::string& path) {
  return fail(Errc::file_unreadable, errno_text(what, error_number), text::printable(path));
}

std::unexpected<Error> wrong_owner(std::string_view what, uid_t owner, uid_t user, const std::string& path) {
  return fail(Errc::file_untrusted, text::cat(what, " belongs to user ", owner, ", not to root or to user ", user),
              text::printable(path), text::cat("if you trust it: chown -h ", user, " ", shell_word(path)));
}

Status check_folder(const struct stat& info, const std::string& path, uid_t user) {
  if (info.st_uid != 0 && info.st_uid != user) {
    return wrong_owner("the folder", info.st_uid, user, path);
  }
  if ((info.st_mode & kOthersMayWrite) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return fail(Errc::file_untrusted, "others may write to the folder", text::printable(path),
                text::cat("chmod go-w ", shell_word(path)));
  }
  return {};
}

class Walk {
 public:
  Walk(uid_t user, Missing missing) : user_(user), missing_(missing) {}

  // Pushes the components of `path` in front of those that are left.
  void push(std::string_view path) {
    std::vector<std::string_view> parts = text::split(path, '/');
    std::ranges::reverse(parts);
    for (const std::string_view part : parts) {
      if (!part.empty() && part != ".") {
        left_.emplace_back(part);
      }
    }
  }

  Status start() {
    folder_ = UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    path_.assign(1, '/');
    struct stat info{};
    if (!folder_ || ::fstat(folder_.get(), &info) != 0) {
      return unreadable("open", errno, path_);
    }
    return check_folder(info, path_, user_);
  }

  // Steps down until `keep` components are left.
  Status go(std::size_t keep) {
    while (left_.size() > keep) {
      const std::string name = std::move(left_.back());
      left_.pop_back();
      if (Status stepped = step(name); !stepped) {
        return stepped;
      }
    }
    return {};
  }

  TrustedPlace take() {
    return {std::move(folder_), std::move(path_), left_.empty() ? std::string() : std::move(left_.back())};
  }

 private:
  std::string below(std::string_view name) const { return text::cat(path_ == "/" ? "" : path_, "/", name); }

  Status step(const std::string& name) {
    UniqueFd next(::openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next && errno == ENOENT && missing_ == Missing::create && name != "..") {
      if (::mkdirat(folder_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
        return unreadable("create folder", errno, below(name));
      }
      next = UniqueFd(::openat(folder_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }
    struct stat info{};
    if (!next || ::fstat(next.get(), &info) != 0) {
      return unreadable("open", errno, below(name));
    }
    if (S_ISLNK(info.st_mode)) {
      return follow(next.get(), info, below(name));
    }
    if (!S_ISDIR(info.st_mode)) {
      return unreadable("open", ENOTDIR, below(name));
    }
    std::string path = name == ".." ? path_.substr(0, std::max<std::size_t>(path_.rfind('/'), 1)) : below(name);
    if (Status trusted = check_folder(info, path, user_); !trusted) {
      return trusted;
    }
    folder_ = std::move(next);
    path_ = std::move(path);
    return {};
  }

  Status follow(int link, const struct stat& info, const std::string& path) {
    if (info.st_uid != 0 && info.st_uid != user_) {
      return wrong_owner("the symlink", info.st_uid, user_, path);
    }
    if (++symlinks_ > kMaxSymlinks) {
      return unreadable("follow symlink", ELOOP, path);
    }
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlinkat(link, "", target.data(), target.size());
    if (length <= 0 || static_cast<std::size_t>(length) == target.size()) {
      return unreadable("read symlink", length < 0 ? errno : ENAMETOOLONG, path);
    }
    const std::string_view text(target.data(), static_cast<std::size_t>(length));
    push(text);
    return text.starts_with('/') ? start() : Status();
  }

  uid_t user_;
  Missing missing_;
  UniqueFd folder_ = {};
  std::string path_ = {};
  std::vector<std::string> left_ = {};  // components still to go, the next one last
  int symlinks_ = 0;
};

Result<std::string> absolute(const std::string& path) {
  if (path.empty()) {
    return unreadable("open", ENOENT, path);
  }
  // A name that holds a zero byte would be another name for the kernel.
  if (path.contains('\0')) {
    return fail(Errc::file_unreadable, "the path holds a zero byte", text::printable(path));
  }
  if (path.starts_with('/')) {
    return path;
  }
  std::array<char, PATH_MAX> here;
  if (::getcwd(here.data(), here.size()) == nullptr) {
    return unreadable("working directory", errno, path);
  }
  return text::cat(here.data(), "/", path);
}

Result<TrustedPlace> walk(const std::string& path, uid_t user, Missing missing, std::size_t keep) {
  auto full = absolute(path);
  if (!full) {
    return std::unexpected(full.error());
  }
  Walk steps(user, missing);
  steps.push(*full);
  if (Status started = steps.start(); !started) {
    return std::unexpected(started.error());
  }
  if (Status went = steps.go(keep); !went) {
    return std::unexpected(went.error());
  }
  return steps.take();
}

}  // namespace

std::string TrustedPlace::path() const {
  return name.empty() ? folder_path : text::cat(folder_path == "/" ? "" : folder_path, "/", name);
}

std::string shell_word(std::string_view path) {
  const bool plain = !path.empty() && std::ranges::all_of(path, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_./+-@:,%").contains(c);
  });
  if (plain) {
    return std::string(path);
  }
  std::string out = "'";
  for (const char c : text::printable(path)) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  out += '\'';
  return out;
}

Result<TrustedPlace> walk_to_file(const std::string& path, uid_t user) {
  const std::string_view last = std::string_view(path).substr(path.rfind('/') + 1);
  if (last.empty() || last == "." || last == "..") {
    return fail(Errc::file_unreadable, "not the path of a file", text::printable(path));
  }
  return walk(path, user, Missing::refuse, 1);
}

Result<TrustedPlace> walk_to_folder(const std::string& path, uid_t user, Missing missing) {
  return walk(path, user, missing, 0);
}

Status check_trusted_file(const struct stat& info, const std::string& path, uid_t user) {
  if (info.st_uid != 0 && info.st_uid != user) {
    return wrong_owner("the file", info.st_uid, user, path);
  }
  if ((info.st_mode & kOthersMayWrite) != 0) {
    return fail(Errc::file_untrusted, "others may write to the file", text::printable(path),
                text::cat("chmod go-w ", shell_word(path)));
  }
  return {};
}

}  // namespace cordon::run
