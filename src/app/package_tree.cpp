// SPDX-License-Identifier: Apache-2.0
#include "app/package_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "app/tree_table.hpp"
#include "base/fd.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr int kMaxDepth = 128;
constexpr std::size_t kMaxEntries = 1'000'000;
constexpr mode_t kFolderMode = 0755;
constexpr mode_t kFileMode = 0444;
constexpr mode_t kExecute = 0111;

std::unexpected<Error> refused(const std::string& path, std::string detail, std::string remedy = {}) {
  return fail(Errc::launch_failed, std::move(detail), text::printable(path), std::move(remedy));
}

Result<std::vector<std::string>> sorted_names(int folder_fd, const std::string& path) {
  struct Close {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  UniqueFd again(::fcntl(folder_fd, F_DUPFD_CLOEXEC, 0));  // it was not read from yet
  const std::unique_ptr<DIR, Close> folder(again ? ::fdopendir(again.get()) : nullptr);
  std::vector<std::string> names;
  if (!folder) {
    return refused(path, errno_text("open", errno));
  }
  [[maybe_unused]] const int with_folder = again.release();
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
    errno = 0;
  }
  if (errno != 0) {  // a folder that was read in part would be sealed in part
    return refused(path, errno_text("readdir", errno));
  }
  std::ranges::sort(names);
  return names;
}

struct Entry {
  int folder = -1;          // borrowed
  const std::string& name;  // in it
  const std::string& path;  // below the tree's root
  const struct stat& info;
  int depth = 0;
};

// Every entry in a fixed order, folders before what is in them.
class Walk {
 public:
  virtual ~Walk() = default;
  Status run(const std::string& root) {
    const UniqueFd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info{};
    if (!folder || ::fstat(folder.get(), &info) != 0) {
      return refused(root, errno_text("open", errno));
    }
    visit_root(info);
    return visit_folder(folder.get(), "", 0);
  }

 protected:
  virtual void visit_root(const struct stat& /*info*/) {}
  virtual Status visit(const Entry& entry) = 0;

 private:
  Status visit_folder(int folder, const std::string& path, int depth) {
    const Result<std::vector<std::string>> names = sorted_names(folder, path);
    if (!names) {
      return std::unexpected(names.error());
    }
    for (const std::string& name : *names) {
      const std::string below = path.empty() ? name : text::cat(path, '/', name);
      struct stat info{};
      if (++seen_ > kMaxEntries || depth > kMaxDepth) {
        return refused(below, "holds more, or deeper, than a package may");
      }
      if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return refused(below, errno_text("fstatat", errno));
      }
      if (Status fine = visit({folder, name, below, info, depth}); !fine) {
        return fine;
      }
      if (!S_ISDIR(info.st_mode)) {
        continue;
      }
      const UniqueFd deeper(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (Status fine =
              deeper ? visit_folder(deeper.get(), below, depth + 1) : refused(below, errno_text("open", errno));
          !fine) {
        return fine;
      }
    }
    return {};
  }

  std::size_t seen_ = 0;
};

Result<std::string> link_target(const Entry& entry) {
  std::array<char, 4096> target{};
  const ssize_t length = ::readlinkat(entry.folder, entry.name.c_str(), target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) == target.size()) {
    return refused(entry.path, errno_text("readlink", errno));
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

// `depth`: how many folders lie between the root and the link. ".." counts only in front: behind a name, which may be a
// link itself, nobody can say from the text where it leads.
bool stays_inside(std::string_view target, int depth) {
  if (target.starts_with('/')) {
    return false;
  }
  bool named = false;
  for (const std::string_view part : text::split(target, '/')) {
    if (part == ".." && (named || --depth < 0)) {
      return false;
    }
    named = named || (part != ".." && part != "." && !part.empty());
  }
  return true;
}

class Seal final : public Walk {
  Status visit(const Entry& entry) override {
    if (S_ISLNK(entry.info.st_mode)) {
      const Result<std::string> target = link_target(entry);
      if (!target) {
        return std::unexpected(target.error());
      }
      return stays_inside(*target, entry.depth) ? Status()
                                                : refused(entry.path, "is a link that leads out of the package");
    }
    const bool folder = S_ISDIR(entry.info.st_mode);
    if (!folder && !S_ISREG(entry.info.st_mode)) {
      return refused(entry.path, "is neither a file nor a folder");
    }
    if (!folder && entry.info.st_nlink != 1) {
      return refused(entry.path, "has a second name");
    }
    // Whatever made the tree has ended, so that what was looked at is what is changed.
    const mode_t mode = folder ? kFolderMode : kFileMode | ((entry.info.st_mode & S_IXUSR) != 0 ? kExecute : mode_t{0});
    if (::fchmodat(entry.folder, entry.name.c_str(), mode, 0) != 0) {
      return refused(entry.path, errno_text("chmod", errno));
    }
    return {};
  }
};

class Content final : public Walk {
 public:
  Content(Compiled compiled, std::uint64_t most) : apart_(compiled == Compiled::apart), most_(most) {}

  TreeDigest finish() {
    out_.digest = digest_text(whole_.finish());
    if (apart_) {
      out_.compiled = digest_text(compiled_.finish());
    }
    return out_;
  }

 private:
  Status visit(const Entry& entry) override {
    if (const bool own = entry.info.st_uid == ::geteuid() || entry.info.st_uid == 0;
        !S_ISLNK(entry.info.st_mode) && (!own || (entry.info.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
      return fail(Errc::file_untrusted, "others may write to it", text::printable(entry.path));
    }
    if (S_ISDIR(entry.info.st_mode)) {
      add("d", entry.path, "");
      return {};
    }
    ++out_.files;
    if (S_ISLNK(entry.info.st_mode)) {
      const Result<std::string> target = link_target(entry);
      if (target) {
        add("l", entry.path, *target);
      }
      return target ? Status() : std::unexpected(target.error());
    }
    Result<std::string> digest = read(entry);
    if (digest) {
      add((entry.info.st_mode & S_IXUSR) != 0 ? "x" : "f", entry.path, *digest);
    }
    return digest ? Status() : std::unexpected(digest.error());
  }

  // Zero bytes stand in no path and no target, so that no two trees give the same text.
  void add(std::string_view kind, std::string_view path, std::string_view what) {
    constexpr std::string_view kZero("\0", 1);
    (apart_ && is_compiled(path) ? compiled_ : whole_).update(text::cat(kind, kZero, path, kZero, what, kZero));
  }

  static bool is_compiled(std::string_view path) {
    return std::ranges::any_of(text::split(path, '/'), [](std::string_view part) { return part == "__pycache__"; });
  }

  static std::unexpected<Error> too_much(const Entry& entry) {
    return fail(Errc::launch_changed, "makes the files larger than those that were recorded",
                text::printable(entry.path));
  }

  Result<std::string> read(const Entry& entry) {
    const UniqueFd file(::openat(entry.folder, entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    Sha256 hash;
    if (static_cast<std::uint64_t>(entry.info.st_size) > most_ - out_.bytes) {
      return too_much(entry);
    }
    for (;;) {
      const ssize_t got = file ? ::read(file.get(), buffer_.data(), buffer_.size()) : -1;
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return refused(entry.path, errno_text("read", errno));
      }
      if (got == 0) {
        return digest_text(hash.finish());
      }
      if (static_cast<std::uint64_t>(got) > most_ - out_.bytes) {
        return too_much(entry);  // it grew meanwhile
      }
      out_.bytes += static_cast<std::uint64_t>(got);
      hash.update({buffer_.data(), static_cast<std::size_t>(got)});
    }
  }

  bool apart_ = false;
  std::uint64_t most_ = kAnyBytes;
  Sha256 whole_ = {};
  Sha256 compiled_ = {};
  TreeDigest out_ = {};
  std::vector<char> buffer_ = std::vector<char>(262'144);
};

class Table final : public Walk {
 public:
  std::string finish() { return std::move(table_); }

 private:
  void visit_root(const struct stat& info) override { add_to_table(table_, "", info); }
  // A folder before it is listed, so that what comes into it meanwhile shows in its time of change.
  Status visit(const Entry& entry) override {
    add_to_table(table_, entry.path, entry.info);
    return {};
  }

  std::string table_ = {};
};

template <typename Kind>
auto result_of(const std::string& folder, Kind walk) -> Result<decltype(walk.finish())> {
  if (Status done = walk.run(folder); !done) {
    Error error = done.error();
    error.where = text::cat(text::printable(folder), ": ", error.where);
    return std::unexpected(std::move(error));
  }
  return walk.finish();
}

}  // namespace

Status seal_tree(const std::string& folder) { return Seal().run(folder); }
Result<TreeDigest> content_digest(const std::string& folder, Compiled compiled, std::uint64_t most) {
  return result_of(folder, Content(compiled, most));
}
Result<std::string> tree_table(const std::string& folder) { return result_of(folder, Table()); }

Status remove_tree(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);  // symlinks are removed, not followed
  return error ? refused(folder, text::cat("cannot be removed: ", error.message())) : Status();
}

}  // namespace cordon::app
