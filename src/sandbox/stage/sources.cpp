// SPDX-License-Identifier: Apache-2.0
// Opens everything of the outside that will be seen inside. The object that is checked here is the object that gets
// mounted: no path is looked up twice. A symlink on the way is an error, not something to follow, because whoever can
// plant one below a granted folder would choose what is mounted.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/stage/container.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

// Names the component that is a symlink, and where it leads.
std::string describe_symlink(const std::string& path) {
  std::size_t end = 0;
  while (end != std::string::npos) {
    end = path.find('/', end + 1);
    const std::string prefix = path.substr(0, end);
    std::array<char, PATH_MAX> target = {};
    const ssize_t length = ::readlink(prefix.c_str(), target.data(), target.size());
    if (length > 0) {
      return text::cat(path, ": ", prefix, " is a symlink to ",
                       std::string_view(target.data(), static_cast<std::size_t>(length)));
    }
  }
  return text::cat(path, ": is or passes through a symlink");
}

// The major:minor of the devices that a view may hold.
bool is_expected_device(const std::string& path, const struct stat& status) {
  struct Known {
    std::string_view name;
    unsigned minor;
  };
  constexpr std::array<Known, 5> kMemoryDevices = {
      {{"null", 3}, {"zero", 5}, {"full", 7}, {"random", 8}, {"urandom", 9}}};
  for (const Known& known : kMemoryDevices) {
    if (last_component(path) == known.name) {
      return S_ISCHR(status.st_mode) && major(status.st_rdev) == 1 && minor(status.st_rdev) == known.minor;
    }
  }
  return false;
}

// Has a source outside that must be opened.
bool wants_source(const ViewEntry& entry, bool for_tool) {
  switch (entry.kind) {
    case EntryKind::bind:
    case EntryKind::device:
      return true;
    case EntryKind::cover:
    case EntryKind::freeze:
      // Our own init looks at what there is inside; a tool has to be told beforehand what it will meet.
      return for_tool || !entry.optional;
    case EntryKind::directory:
    case EntryKind::tmpfs:
    case EntryKind::file:
    case EntryKind::symlink:
    case EntryKind::link:
    case EntryKind::proc:
      return false;
  }
  return false;
}

bool write_map(const std::string& path, const std::string& map) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), map.data(), map.size()) == static_cast<ssize_t>(map.size());
}

// Exchanges 0 and `id`, leaves all others as they are: what belongs to root outside belongs to `id` on such a mount,
// and what `id` creates there belongs to root outside. Where we do not know all ids (in a container), only that pair.
bool write_exchange(const std::string& path, std::uint32_t id) {
  constexpr std::uint32_t kCount = 0xffffffff;  // ids 0 … 2³²-2
  std::string map = text::cat("0 ", id, " 1\n", id, " 0 1\n");
  if (id > 1) {
    map += text::cat("1 1 ", id - 1, "\n");
  }
  map += text::cat(id + 1, " ", id + 1, " ", kCount - id - 1, "\n");
  return write_map(path, map) || write_map(path, text::cat("0 ", id, " 1\n"));
}

// A user namespace that only holds the exchange of ids for MOUNT_ATTR_IDMAP; nobody lives in it.
std::expected<UniqueFd, Failure> make_owner_map(Stage& stage) {
  std::array<int, 2> ready = {-1, -1};
  std::array<int, 2> hold = {-1, -1};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0 || ::pipe2(hold.data(), O_CLOEXEC) != 0) {
    return failed("pipe2");
  }
  const UniqueFd ready_in(ready[0]);
  UniqueFd ready_out(ready[1]);
  UniqueFd hold_in(hold[0]);
  UniqueFd hold_out(hold[1]);
  const pid_t child = fork_or_exit(stage, "sources");
  if (child == 0) {
    hold_out.reset();
    char done = ::unshare(CLONE_NEWUSER) == 0 ? 'y' : 'n';
    (void)!::write(ready_out.get(), &done, 1);
    (void)!::read(hold_in.get(), &done, 1);  // until we let go, or are gone
    ::_exit(0);
  }
  ready_out.reset();
  char done = 'n';
  const bool entered = ::read(ready_in.get(), &done, 1) == 1 && done == 'y';
  const std::string base = text::cat("/proc/", child);
  const bool mapped = entered && write_exchange(text::cat(base, "/uid_map"), stage.plan.uid) &&
                      write_exchange(text::cat(base, "/gid_map"), stage.plan.gid);
  const int error_number = errno;
  UniqueFd space(mapped ? ::open(text::cat(base, "/ns/user").c_str(), O_RDONLY | O_CLOEXEC) : -1);
  hold_out.reset();
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!space) {
    errno = error_number;
    return failed("map of owners", "running_as_root");
  }
  return space;
}

// A detached copy of the mount, private to us, with the attributes of the entry.
std::expected<UniqueFd, Failure> clone_mount(const ViewEntry& entry, int source, int owner_map) {
  UniqueFd mount(kernel::open_tree(
      source, "", kernel::kOpenTreeClone | kernel::kOpenTreeCloexec | kernel::kAtRecursive | kernel::kAtEmptyPath));
  if (!mount) {
    return failed(text::cat("open_tree ", entry.source));
  }
  kernel::MountAttributes attributes = {.set = kernel::kAttrNoSuid, .propagation = kernel::kPropagationPrivate};
  if (entry.kind == EntryKind::device) {
    attributes.set |= kernel::kAttrNoExec | kernel::kAttrReadOnly;  // devices are written to all the same
  } else {
    attributes.set |= kernel::kAttrNoDev | (entry.writable ? 0 : kernel::kAttrReadOnly);
  }
  if (kernel::mount_setattr(mount.get(), kernel::kAtRecursive, attributes) != 0) {
    return failed(text::cat("mount_setattr ", entry.source));
  }
  if (owner_map >= 0 && entry.owners != Owners::as_outside) {
    const kernel::MountAttributes idmap = {.set = kernel::kAttrIdmap,
                                           .userns_fd = static_cast<std::uint64_t>(owner_map)};
    if (kernel::mount_setattr(mount.get(), kernel::kAtRecursive, idmap) != 0 && entry.owners == Owners::mapped) {
      return failed(text::cat(entry.source, ": this file system cannot map owners, so that only root could use it"),
                    "running_as_root");
    }
  }
  return mount;
}

// bubblewrap opens by path and as the server's uid, which may not even reach what root grants. So the prepared mounts
// are put where it can, in a mount namespace of our own; nobody else sees them.
Outcome lay_out_for_tool(Stage& stage, const std::string& folder) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return failed("unshare mount namespace", "running_as_root");
  }
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0) {
    return failed(text::cat("mount ", folder));
  }
  for (std::size_t i = 0; i < stage.plan.view.size(); ++i) {
    ViewEntry& entry = stage.plan.view[i];
    if (entry.kind != EntryKind::bind || entry.owners == Owners::as_outside) {
      continue;
    }
    const std::string place = text::cat(folder, "/", i);
    struct stat status = {};
    if (::fstat(stage.sources[i].get(), &status) != 0) {
      return failed(entry.source);
    }
    if (S_ISDIR(status.st_mode)) {
      if (::mkdir(place.c_str(), 0755) != 0) {
        return failed(place);
      }
    } else if (const UniqueFd file(::open(place.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644)); !file) {
      return failed(place);
    }
    if (kernel::move_mount(stage.sources[i].get(), AT_FDCWD, place.c_str(), 0) != 0) {
      return failed(text::cat("move_mount ", entry.source));
    }
    entry.source = place;
  }
  return {};
}

// The same for podman, which opens by path, too. With an engine that lives elsewhere nothing can be prepared.
Outcome lay_out_for_container(Stage& stage) {
  // From here on there is a folder that somebody has to remove, and no keeper yet.
  if (auto outcome = outlive_parent(); !outcome) {
    return outcome;
  }
  if (auto made = make_container_folder(stage); !made) {
    remove_container_folder(stage);
    return made;
  }
  if (!stage.plan.container.map_owners) {
    return {};
  }
  auto laid_out = lay_out_for_tool(stage, text::cat(stage.container_path, "/grants"));
  if (!laid_out) {
    remove_container_folder(stage);
  }
  return laid_out;
}

// A tool would make the place of a grant that lies inside another one, outside.
Outcome check_nested(const Plan& plan, std::size_t index) {
  const ViewEntry& entry = plan.view[index];
  for (std::size_t i = index; i > 0; --i) {
    const ViewEntry& outer = plan.view[i - 1];
    if (outer.kind == EntryKind::bind && is_within(entry.target, outer.target)) {
      const std::string outside = rebase(entry.target, outer.target, outer.source);
      if (const auto place = open_exactly(outside); !place) {
        return refuse(
            text::cat(entry.target, ": a grant inside another grant needs a place there: ", place.error().detail));
      }
      return {};
    }
  }
  return {};
}

// What openat2 does, one component after the other. An engine's syscall profile has to refuse openat2, since what it
// is asked for lies in memory.
std::expected<UniqueFd, Failure> open_by_parts(const std::string& path) {
  UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const std::string_view part : text::split(path, '/')) {
    if (part.empty()) {
      continue;
    }
    UniqueFd next(::openat(at.get(), std::string(part).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status = {};
    if (!next || ::fstat(next.get(), &status) != 0) {
      return failed(path);
    }
    if (S_ISLNK(status.st_mode)) {
      return refuse(describe_symlink(path));
    }
    at = std::move(next);
  }
  return at;
}

}  // namespace

std::expected<UniqueFd, Failure> open_exactly(const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(kernel::openat2(AT_FDCWD, path.c_str(), how));
  if (!fd) {
    if (errno == ENOSYS) {
      return open_by_parts(path);
    }
    if (errno == ELOOP) {
      return refuse(describe_symlink(path));
    }
    return failed(path);
  }
  return fd;
}

Outcome open_sources(Stage& stage) {
  const bool for_tool = !stage.plan.tool.empty();
  // Where the machine's paths are shown nothing is mounted by us: it is only remembered what is there.
  const bool maps_owners = (stage.plan.switch_user && !stage.plan.shared_host) || stage.plan.container.map_owners;
  UniqueFd owner_map;
  if (maps_owners) {
    auto made = make_owner_map(stage);
    if (!made) {
      return std::unexpected(made.error());
    }
    owner_map = std::move(*made);
  }
  stage.sources.resize(stage.plan.view.size());
  stage.witness.sources.resize(stage.plan.view.size());
  for (std::size_t i = 0; i < stage.plan.view.size(); ++i) {
    const ViewEntry& entry = stage.plan.view[i];
    if (!wants_source(entry, for_tool)) {
      continue;
    }
    auto source = open_exactly(entry.source);
    if (!source && entry.optional && source.error().error_number == ENOENT) {
      continue;
    }
    if (!source) {
      return std::unexpected(source.error());
    }
    struct stat status = {};
    if (::fstat(source->get(), &status) != 0) {
      return failed(entry.source);
    }
    if (entry.kind == EntryKind::device && !is_expected_device(entry.source, status)) {
      return refuse(text::cat(entry.source, ": not the device of that name"));
    }
    if (entry.kind == EntryKind::bind) {
      stage.witness.sources[i] = {status.st_dev, status.st_ino};
      if (auto outcome = check_nested(stage.plan, i); for_tool && !outcome) {
        return outcome;
      }
    }
    const bool clones = entry.kind == EntryKind::bind || entry.kind == EntryKind::device;
    if (clones && (!for_tool || (maps_owners && entry.owners != Owners::as_outside))) {
      source = clone_mount(entry, source->get(), owner_map.get());
      if (!source) {
        return std::unexpected(source.error());
      }
    }
    stage.sources[i] = std::move(*source);
  }
  if (stage.plan.in_container()) {
    return lay_out_for_container(stage);
  }
  return for_tool && maps_owners ? lay_out_for_tool(stage, "/run") : Outcome{};
}

}  // namespace cordon::sandbox::stage
