// SPDX-License-Identifier: Apache-2.0
// Builds the server's root out of nothing and moves into it. Everything is done relative to a descriptor of the new
// root and without following symlinks, so that nothing in a granted folder can direct where something is made.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

// Where covers of files come from; unlinked again before the server runs.
constexpr const char* kEmptyFile = ".empty";

std::expected<UniqueFd, Failure> new_file_system(const char* type,
                                                 std::initializer_list<std::pair<const char*, std::string>> options,
                                                 std::uint64_t attributes) {
  const UniqueFd context(kernel::fsopen(type));
  if (!context) {
    return failed(text::cat("fsopen ", type));
  }
  for (const auto& [key, value] : options) {
    if (kernel::fsconfig(context.get(), kernel::kConfigSetString, key, value.c_str()) != 0) {
      return failed(text::cat(type, " option ", key));
    }
  }
  if (kernel::fsconfig(context.get(), kernel::kConfigCreate, nullptr, nullptr) != 0) {
    return failed(text::cat("create ", type), errno == EPERM ? "userns_denied" : "");
  }
  UniqueFd mount(kernel::fsmount(context.get(), attributes));
  if (!mount) {
    // "Mount too revealing": a container that masks parts of its /proc may not have an unmasked one.
    return failed(text::cat("fsmount ", type), errno == EPERM && std::string_view(type) == "proc" ? "proc_masked" : "");
  }
  return mount;
}

std::expected<UniqueFd, Failure> new_tmpfs(std::uint64_t size_bytes, std::uint32_t mode, std::uint64_t attributes) {
  const std::array<char, 5> octal = {
      static_cast<char>('0' + ((mode >> 9) & 7)), static_cast<char>('0' + ((mode >> 6) & 7)),
      static_cast<char>('0' + ((mode >> 3) & 7)), static_cast<char>('0' + (mode & 7)), '\0'};
  return new_file_system("tmpfs", {{"size", std::to_string(size_bytes)}, {"mode", octal.data()}},
                         attributes | kernel::kAttrNoSuid | kernel::kAttrNoDev);
}

std::expected<UniqueFd, Failure> open_inside(const Stage& stage, int folder, std::string_view path, int flags) {
  open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH;
  UniqueFd fd(kernel::openat2(folder < 0 ? stage.root.get() : folder, std::string(path).c_str(), how));
  if (!fd) {
    return failed(path);
  }
  return fd;
}

// Whether something may be made in this folder: only in file systems that are ours alone. In a granted folder it would
// be made outside.
Outcome require_own(const Stage& stage, int folder, const std::string& target) {
  struct stat status = {};
  if (::fstat(folder, &status) != 0) {
    return failed(target);
  }
  for (const dev_t device : stage.own_devices) {
    if (device == status.st_dev) {
      return {};
    }
  }
  return refuse(text::cat(target, ": lies inside a granted folder, where its place does not exist"));
}

Outcome remember_own(Stage& stage, int mount) {
  struct stat status = {};
  if (::fstat(mount, &status) != 0) {
    return failed("fstat of a private file system");
  }
  stage.own_devices.push_back(status.st_dev);
  return {};
}

// The folder that holds `target`, made where it is missing.
std::expected<UniqueFd, Failure> open_parent(const Stage& stage, const std::string& target) {
  UniqueFd folder(::fcntl(stage.root.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
  const std::string_view parent = parent_path(target);
  if (parent == "/") {
    return folder;
  }
  for (const std::string_view component : text::split(parent.substr(1), '/')) {
    const std::string word(component);
    auto next = open_inside(stage, folder.get(), word, O_PATH | O_DIRECTORY);
    if (!next && next.error().error_number == ENOENT) {
      if (auto own = require_own(stage, folder.get(), target); !own) {
        return std::unexpected(own.error());
      }
      if (::mkdirat(folder.get(), word.c_str(), 0755) != 0) {
        return failed(target);
      }
      next = open_inside(stage, folder.get(), word, O_PATH | O_DIRECTORY);
    }
    if (!next) {
      return refuse(text::cat(target, ": ", next.error().detail));
    }
    folder = std::move(*next);
  }
  return folder;
}

bool is_folder(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

// The place for a mount: what is there, or made as a folder or an empty file.
std::expected<UniqueFd, Failure> open_place(const Stage& stage, const std::string& target, bool folder) {
  auto parent = open_parent(stage, target);
  if (!parent) {
    return parent;
  }
  const std::string word(last_component(target));
  auto place = open_inside(stage, parent->get(), word, O_PATH);
  if (place || place.error().error_number != ENOENT) {
    return place;
  }
  if (auto own = require_own(stage, parent->get(), target); !own) {
    return std::unexpected(own.error());
  }
  if (folder) {
    if (::mkdirat(parent->get(), word.c_str(), 0755) != 0) {
      return failed(target);
    }
  } else if (const UniqueFd made(::openat(parent->get(), word.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
             !made) {
    return failed(target);
  }
  return open_inside(stage, parent->get(), word, O_PATH);
}

Outcome attach(const Stage& stage, int mount, const std::string& target) {
  const auto place = open_place(stage, target, is_folder(mount));
  if (!place) {
    return std::unexpected(place.error());
  }
  if (kernel::move_mount(mount, place->get(), "", kernel::kMoveToEmpty) != 0) {
    return failed(text::cat("move_mount ", target));
  }
  return {};
}

Outcome make_folder(const Stage& stage, const ViewEntry& entry) {
  const auto place = open_place(stage, entry.target, true);
  return place ? Outcome{} : std::unexpected(place.error());
}

Outcome make_text_file(const Stage& stage, const ViewEntry& entry) {
  const auto parent = open_parent(stage, entry.target);
  if (!parent) {
    return std::unexpected(parent.error());
  }
  if (auto own = require_own(stage, parent->get(), entry.target); !own) {
    return own;
  }
  const UniqueFd file(::openat(parent->get(), std::string(last_component(entry.target)).c_str(),
                               O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, entry.mode));
  if (!file || ::write(file.get(), entry.text.data(), entry.text.size()) != static_cast<ssize_t>(entry.text.size())) {
    return failed(entry.target);
  }
  return {};
}

Outcome make_symlink(const Stage& stage, const ViewEntry& entry) {
  const auto parent = open_parent(stage, entry.target);
  if (!parent) {
    return std::unexpected(parent.error());
  }
  if (auto own = require_own(stage, parent->get(), entry.target); !own) {
    return own;
  }
  if (::symlinkat(entry.text.c_str(), parent->get(), std::string(last_component(entry.target)).c_str()) != 0) {
    return failed(entry.target);
  }
  return {};
}

std::expected<UniqueFd, Failure> clone_inside(int place, std::uint64_t attributes) {
  UniqueFd mount(kernel::open_tree(
      place, "", kernel::kOpenTreeClone | kernel::kOpenTreeCloexec | kernel::kAtRecursive | kernel::kAtEmptyPath));
  const kernel::MountAttributes set = {.set = attributes, .propagation = kernel::kPropagationPrivate};
  if (!mount || kernel::mount_setattr(mount.get(), kernel::kAtRecursive, set) != 0) {
    return failed("bind inside");
  }
  return mount;
}

constexpr std::uint64_t kClosed =
    kernel::kAttrReadOnly | kernel::kAttrNoSuid | kernel::kAttrNoDev | kernel::kAttrNoExec;

// An empty folder. Of those that hold absent things there are many: they share the first one's file system.
std::expected<UniqueFd, Failure> empty_folder(Stage& stage, const ViewEntry& entry) {
  if (!entry.held || stage.first_held.empty()) {
    stage.first_held = entry.held ? entry.target : stage.first_held;
    return new_tmpfs(4096, 0555, kClosed);
  }
  const auto first = open_inside(stage, -1, std::string_view(stage.first_held).substr(1), O_PATH | O_DIRECTORY);
  return first ? clone_inside(first->get(), kClosed) : std::unexpected(first.error());
}

// freeze: the same thing again, read-only. cover: an empty read-only folder, or a file that nobody may read.
Outcome cover_or_freeze(Stage& stage, const ViewEntry& entry) {
  const auto place = open_inside(stage, -1, std::string_view(entry.target).substr(1), O_PATH);
  if (!place) {
    const bool missing = place.error().error_number == ENOENT;
    return missing && entry.optional ? Outcome{} : refuse(text::cat("to be covered: ", place.error().detail));
  }
  std::expected<UniqueFd, Failure> mount;
  if (entry.kind == EntryKind::freeze) {
    mount = clone_inside(place->get(), kClosed);
  } else if (is_folder(place->get())) {
    mount = empty_folder(stage, entry);
  } else {
    const auto empty = open_inside(stage, -1, kEmptyFile, O_PATH);
    mount = empty ? clone_inside(empty->get(), kClosed) : std::unexpected(empty.error());
  }
  if (!mount) {
    return std::unexpected(mount.error());
  }
  if (kernel::move_mount(mount->get(), place->get(), "", kernel::kMoveToEmpty) != 0) {
    return failed(text::cat("cover ", entry.target));
  }
  return {};
}

// Mounted on itself it can be neither removed nor replaced. It has to be the one that was looked at.
Outcome hold_link(const Stage& stage, const ViewEntry& entry) {
  const auto place = open_inside(stage, -1, std::string_view(entry.target).substr(1), O_PATH | O_NOFOLLOW);
  if (!place) {
    return std::unexpected(place.error());
  }
  std::array<char, PATH_MAX> named = {};
  const ssize_t length = ::readlinkat(place->get(), "", named.data(), named.size());
  if (length < 0 || std::string_view(named.data(), static_cast<std::size_t>(length)) != entry.text) {
    return refuse(text::cat(entry.target, ": is no longer the symlink that it was; start it again"));
  }
  const auto mount = clone_inside(place->get(), kClosed);
  if (!mount) {
    return std::unexpected(mount.error());
  }
  if (kernel::move_mount(mount->get(), place->get(), "", kernel::kMoveToEmpty) != 0) {
    return failed(text::cat("hold ", entry.target));
  }
  return {};
}

Outcome add_entry(Stage& stage, std::size_t index) {
  const ViewEntry& entry = stage.plan.view[index];
  switch (entry.kind) {
    case EntryKind::directory:
      return make_folder(stage, entry);
    case EntryKind::tmpfs: {
      const auto mount = new_tmpfs(entry.size_bytes, entry.mode, 0);
      if (!mount) {
        return std::unexpected(mount.error());
      }
      const Outcome own = remember_own(stage, mount->get());
      return own ? attach(stage, mount->get(), entry.target) : own;
    }
    case EntryKind::bind:
    case EntryKind::device:
      return attach(stage, stage.sources[index].get(), entry.target);
    case EntryKind::file:
      return make_text_file(stage, entry);
    case EntryKind::symlink:
      return make_symlink(stage, entry);
    case EntryKind::link:
      return hold_link(stage, entry);
    case EntryKind::proc: {
      constexpr std::uint64_t kAttributes = kernel::kAttrNoSuid | kernel::kAttrNoDev | kernel::kAttrNoExec;
      const auto mount = entry.text.empty() ? new_file_system("proc", {}, kAttributes)
                                            : new_file_system("proc", {{"subset", "pid"}}, kAttributes);
      return mount ? attach(stage, mount->get(), entry.target) : std::unexpected(mount.error());
    }
    case EntryKind::freeze:
    case EntryKind::cover:
      return cover_or_freeze(stage, entry);
  }
  return refuse("unknown kind of entry");
}

}  // namespace

Outcome make_root(Stage& stage) {
  // Nothing that is mounted here may show outside, nor the other way round.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return failed("make mounts private", errno == EPERM || errno == EACCES ? "userns_denied" : "");
  }
  constexpr std::uint64_t kRootSize = 4 * 1024 * 1024;  // folders, links and a few short files
  auto root = new_tmpfs(kRootSize, 0755, kernel::kAttrNoExec);
  if (!root) {
    return std::unexpected(root.error());
  }
  if (kernel::move_mount(root->get(), AT_FDCWD, "/", 0) != 0) {
    return failed("move_mount /");
  }
  stage.root = std::move(*root);
  if (auto own = remember_own(stage, stage.root.get()); !own) {
    return own;
  }
  const UniqueFd empty(::openat(stage.root.get(), kEmptyFile, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0));
  if (!empty) {
    return failed("empty file");
  }
  return {};
}

Outcome build_view(Stage& stage) {
  for (std::size_t i = 0; i < stage.plan.view.size(); ++i) {
    if (auto outcome = add_entry(stage, i); !outcome) {
      return outcome;
    }
  }
  if (::unlinkat(stage.root.get(), kEmptyFile, 0) != 0) {
    return failed("remove empty file");
  }
  stage.sources.clear();
  return {};
}

Outcome pivot_into_view(Stage& stage) {
  if (::fchdir(stage.root.get()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0) {
    return failed("pivot_root");
  }
  // Both roots are now stacked at "/"; "." is the old one.
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
    return failed("leave the old root");
  }
  const kernel::MountAttributes read_only = {.set = kernel::kAttrReadOnly};
  if (kernel::mount_setattr(stage.root.get(), 0, read_only) != 0) {
    return failed("make the root read-only");
  }
  stage.root.reset();
  return {};
}

}  // namespace cordon::sandbox::stage
