// SPDX-License-Identifier: Apache-2.0
// Walks name by name, so that every open has the same flags: the filter around this process cannot look into what
// openat2 is given, but it can compare these.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/text.hpp"
#include "run/server_files.hpp"

namespace cordon::run {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel
constexpr std::size_t kMaxSteps = 4'096;

struct Part {
  std::string name = {};
  bool from_link = false;
};

struct Place {
  UniqueFd fd = {};
  FileKey key = {};
};

FileKey key_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

class Walk {
 public:
  bool begin(int root, std::string_view path) {
    struct stat status = {};
    UniqueFd fd(::openat(root, ".", O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!fd || ::fstat(fd.get(), &status) != 0) {
      return false;
    }
    chain_.push_back({std::move(fd), key_of(status)});
    push(path, false);
    return true;
  }

  // False: it cannot be told.
  bool run() {
    for (std::size_t steps = 0; !todo_.empty(); ++steps) {
      const Part part = std::move(todo_.back());
      todo_.pop_back();
      if (steps > kMaxSteps || !step(part)) {
        return false;
      }
    }
    return true;
  }

  WalkedPath result() const {
    WalkedPath out;
    for (const Place& place : chain_) {
      out.chain.push_back(place.key);
    }
    out.complete = missing_ == 0;
    return out;
  }

 private:
  // The first part on top.
  void push(std::string_view path, bool from_link) {
    const std::vector<std::string_view> parts = text::split(path, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      todo_.push_back({std::string(*part), from_link});
    }
  }

  bool step(const Part& part) {
    if (part.name.empty() || part.name == ".") {
      return true;
    }
    if (part.name == "..") {
      if (missing_ > 0) {
        --missing_;
      } else if (chain_.size() > 1) {
        chain_.pop_back();
      }
      return true;
    }
    if (missing_ > 0) {
      ++missing_;
      return !part.from_link;
    }
    UniqueFd fd(::openat(chain_.back().fd.get(), part.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
      // What a link promises and does not keep may come to be anywhere.
      ++missing_;
      return errno == ENOENT && !part.from_link;
    }
    return enter(std::move(fd));
  }

  bool enter(UniqueFd fd) {
    struct stat status = {};
    struct statfs system = {};
    if (::fstat(fd.get(), &status) != 0 || ::fstatfs(fd.get(), &system) != 0) {
      return false;
    }
    // Its links lead elsewhere than they say, and for another process than this one.
    if (system.f_type == PROC_SUPER_MAGIC) {
      return false;
    }
    if (!S_ISLNK(status.st_mode)) {
      chain_.push_back({std::move(fd), key_of(status)});
      return true;
    }
    std::array<char, PATH_MAX> target = {};
    const ssize_t length = ::readlinkat(fd.get(), "", target.data(), target.size());
    if (length <= 0 || length == static_cast<ssize_t>(target.size()) || ++links_ > kMaxLinks) {
      return false;
    }
    const std::string_view leads(target.data(), static_cast<std::size_t>(length));
    if (leads.starts_with('/')) {
      chain_.resize(1);
    }
    push(leads, true);
    return true;
  }

  std::vector<Place> chain_ = {};
  std::vector<Part> todo_ = {};
  std::size_t missing_ = 0;
  int links_ = 0;
};

}  // namespace

std::optional<WalkedPath> walk(int root, std::string_view path) {
  Walk walk;
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos || !walk.begin(root, path) || !walk.run()) {
    return std::nullopt;
  }
  return walk.result();
}

std::optional<FileKey> key_of(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(key_of(status)) : std::nullopt;
}

}  // namespace cordon::run
