// SPDX-License-Identifier: Apache-2.0
// The second wall behind the view: one Landlock ruleset made of the same list. One, because a second ruleset denies
// moving files between folders whatever it says. It also forbids what a view cannot: executing what the server wrote,
// signals to init, mounts.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "sandbox/stage/container_inside.hpp"
#include "sandbox/stage/kernel.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {
namespace {

using namespace kernel;

constexpr std::uint64_t kReading = kLandlockReadFile | kLandlockReadDir;
constexpr std::uint64_t kFileRights = kLandlockExecute | kLandlockWriteFile | kLandlockReadFile | kLandlockTruncate |
                                      kLandlockIoctlDevice | kLandlockResolveUnix;
constexpr std::uint64_t kNeverWritten = kLandlockMakeChar | kLandlockMakeBlock | kLandlockIoctlDevice;

std::uint64_t rights_for(const ViewEntry& entry, std::uint64_t handled) {
  const std::uint64_t execute = entry.executable ? kLandlockExecute : 0;
  // Sockets that are made inside need no right. One that was made outside may be reached only where it is listed.
  const std::uint64_t writing = handled & ~(kNeverWritten | kLandlockExecute | kLandlockResolveUnix);
  switch (entry.kind) {
    case EntryKind::tmpfs:
      return writing;
    case EntryKind::bind:
      if (entry.socket) {
        return kLandlockResolveUnix;
      }
      return (entry.writable ? writing : kReading) | execute;
    case EntryKind::device:
      return kLandlockReadFile | kLandlockWriteFile | kLandlockIoctlDevice;
    case EntryKind::file:
      return kLandlockReadFile;
    case EntryKind::proc:
      return kReading | kLandlockWriteFile;
    case EntryKind::directory:
    case EntryKind::symlink:
    case EntryKind::link:
    case EntryKind::freeze:
    case EntryKind::cover:
      return 0;
  }
  return 0;
}

Outcome allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const auto place = open_exactly(path);
  if (!place) {
    return std::unexpected(place.error());
  }
  struct stat status = {};
  if (::fstat(place->get(), &status) != 0) {
    return failed(path);
  }
  if (!S_ISDIR(status.st_mode)) {
    rights &= kFileRights;
  }
  const LandlockPath rule = {.allowed = rights, .parent_fd = place->get()};
  if (rights != 0 && landlock_add_path(ruleset, rule) != 0) {
    return failed(text::cat("rule for ", path));
  }
  return {};
}

// Our own root holds nothing but what is listed, so that folders may be listed everywhere. A container's has /sys, and
// devices besides: there it is the image's folders alone.
Outcome allow_root(int ruleset, const Plan& plan) {
  if (!plan.in_container()) {
    return allow(ruleset, "/", kLandlockReadDir);
  }
  for (const std::string& place : image_places(plan)) {
    if (auto outcome = allow(ruleset, place, kReading | kLandlockExecute); !outcome) {
      return outcome;
    }
  }
  return {};
}

}  // namespace

Outcome restrict_with_landlock(Stage& stage) {
  const int abi = stage.plan.landlock_abi;
  const std::uint64_t handled = landlock_file_rights(abi);
  const bool shared = stage.plan.shared_host;
  const LandlockRuleset attributes = {.handled_fs = handled,
                                      .handled_net = shared && abi >= 4 ? kLandlockTcp : 0,
                                      .scoped = abi >= 6 ? kLandlockScopes : 0};
  // Asked at the end, when /proc can no longer be opened.
  if (shared) {
    stage.self_status = UniqueFd(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    stage.self_descriptors = UniqueFd(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!stage.self_status || !stage.self_descriptors) {
      return failed("/proc/self");
    }
    const auto namespaces = namespace_inodes();
    if (!namespaces) {
      return std::unexpected(namespaces.error());
    }
    stage.self_namespaces = *namespaces;
  }
  const UniqueFd ruleset(landlock_create_ruleset(&attributes, sizeof attributes, 0));
  if (!ruleset) {
    return failed("create ruleset", text::cat("landlock_abi", abi));
  }
  if (!shared) {
    if (auto outcome = allow_root(ruleset.get(), stage.plan); !outcome) {
      return outcome;
    }
  }
  for (const ViewEntry& entry : stage.plan.view) {
    if (entry.steering) {
      continue;  // lies in a write grant, whose rights it has in any case
    }
    const std::uint64_t rights = rights_for(entry, handled) & handled;
    if (rights == 0) {
      continue;
    }
    auto outcome = allow(ruleset.get(), entry.target, rights);
    if (!outcome && !(entry.optional && outcome.error().error_number == ENOENT)) {
      return outcome;
    }
  }
  if (landlock_restrict_self(ruleset.get()) != 0) {
    return failed("restrict");
  }
  return {};
}

}  // namespace cordon::sandbox::stage
