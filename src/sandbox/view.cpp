// SPDX-License-Identifier: Apache-2.0
#include "sandbox/view.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "sandbox/paths.hpp"

namespace cordon::sandbox {
namespace {

std::unexpected<Error> refuse(std::string_view path, std::string detail, std::string remedy = {}) {
  return fail(Errc::policy_invalid, std::move(detail), text::printable(path), std::move(remedy));
}

// These belong to the sandbox itself: a grant here would replace what isolates.
constexpr std::array<std::string_view, 3> kOwnPlaces = {"/proc", "/dev", "/sys"};

Status check_source(const Mount& mount, const HostFacts& facts) {
  for (const SourceFacts& source : facts.sources) {
    if (source.path != mount.source) {
      continue;
    }
    switch (source.kind) {
      case PathKind::directory:
      case PathKind::file:
      case PathKind::other:
        return {};
      case PathKind::socket:
        return refuse(mount.source, "granted path is a socket", "list it in isolation.unix_sockets");
      case PathKind::absent:
        return refuse(mount.source, "granted path does not exist", "create it or take it out of the policy");
      case PathKind::symlink:
        return refuse(
            mount.source,
            text::cat("granted path is or passes through a symlink; it leads to ", text::printable(source.resolved)),
            "grant the path that is meant");
    }
  }
  return {};
}

Status check_mount(const Mount& mount, const HostFacts& facts) {
  if (!is_normal_path(mount.source) || !is_normal_path(mount.target)) {
    return refuse(is_normal_path(mount.source) ? mount.target : mount.source,
                  "not an absolute path without '.', '..' and doubled slashes");
  }
  if (mount.target == "/" || mount.source == "/") {
    return refuse("/", "the root of the file system cannot be granted");
  }
  for (const std::string_view place : kOwnPlaces) {
    if (is_within(mount.target, place) || is_within(mount.source, place)) {
      return refuse(is_within(mount.source, place) ? mount.source : mount.target,
                    text::cat("nothing below ", place, " can be granted"));
    }
  }
  return check_source(mount, facts);
}

// A socket is shown at its own path, so that what is listed is what programs name.
Status check_socket(const std::string& path, const HostFacts& facts) {
  if (!is_normal_path(path) || path == "/") {
    return refuse(path, "not an absolute path without '.', '..' and doubled slashes");
  }
  if (is_within(path, "/proc") || is_within(path, "/dev") || is_within(path, "/sys")) {
    return refuse(path, "nothing below /proc, /dev and /sys can be listed");
  }
  for (const SourceFacts& source : facts.sources) {
    if (source.path == path && source.kind != PathKind::socket) {
      return refuse(path, source.kind == PathKind::absent ? "listed socket does not exist" : "is no socket",
                    "list the path of a socket that exists, without a symlink in it");
    }
  }
  return {};
}

// The covers for a masked path: where the policy names it, and wherever another grant shows the same thing.
Result<std::vector<ViewEntry>> masks(const std::string& deny, const std::vector<ViewEntry>& view) {
  const ViewEntry* shows = nullptr;
  for (const ViewEntry& entry : view) {  // the last, deepest one wins, as with mounts
    if (entry.kind == EntryKind::bind && is_within(deny, entry.target)) {
      shows = &entry;
    }
  }
  if (shows == nullptr) {
    return refuse(deny, "denied path lies in nothing that is granted", "take it out of the policy");
  }
  const std::string outside = rebase(deny, shows->target, shows->source);
  const auto cover = [&outside](std::string place) {
    return ViewEntry{.kind = EntryKind::cover, .target = std::move(place), .source = outside};
  };
  std::vector<ViewEntry> covers = {cover(deny)};
  for (const ViewEntry& entry : view) {
    if (entry.kind != EntryKind::bind) {
      continue;
    }
    if (entry.source != outside && is_within(entry.source, outside)) {
      return refuse(entry.target, text::cat("granted, but it lies in what is denied: ", text::printable(deny)));
    }
    if (is_within(outside, entry.source)) {
      std::string place = rebase(outside, entry.source, entry.target);
      if (place != deny) {
        covers.push_back(cover(std::move(place)));
      }
    }
  }
  return covers;
}

Status check_targets(const std::vector<ViewEntry>& sorted) {
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1].target == sorted[i].target && sorted[i].grant) {
      return refuse(sorted[i].target, "two grants appear at the same place inside");
    }
  }
  return {};
}

Result<std::vector<ViewEntry>> all_masks(const LaunchSpec& spec, const std::vector<ViewEntry>& view) {
  std::vector<ViewEntry> all;
  for (const std::string& deny : spec.deny) {
    if (!is_normal_path(deny) || deny == "/") {
      return refuse(deny, "not an absolute path without '.', '..' and doubled slashes");
    }
    auto covers = masks(deny, view);
    if (!covers) {
      return covers;
    }
    all.insert(all.end(), covers->begin(), covers->end());
  }
  return all;
}

// The folders between a writable grant and what lies deeper in it. Renamed, they would take a mask or a read-only grant
// along, and the next session would find a decoy in its place; a folder that is mounted on itself cannot be renamed.
std::vector<ViewEntry> pins(const std::vector<ViewEntry>& view) {
  std::vector<ViewEntry> list;
  std::set<std::string> mounted;
  for (const ViewEntry& entry : view) {
    mounted.insert(entry.target);
  }
  for (const ViewEntry& entry : view) {
    const bool stays = entry.kind == EntryKind::bind || entry.kind == EntryKind::cover || entry.kind == EntryKind::link;
    if (!stays || entry.optional) {
      continue;
    }
    for (std::string folder(parent_path(entry.target)); folder != "/"; folder = std::string(parent_path(folder))) {
      const ViewEntry* shows = nullptr;
      for (const ViewEntry& outer : view) {
        if ((outer.kind == EntryKind::bind || outer.kind == EntryKind::tmpfs) && is_within(folder, outer.target) &&
            (shows == nullptr || outer.target.size() >= shows->target.size())) {
          shows = &outer;
        }
      }
      if (shows != nullptr && shows->kind == EntryKind::bind && shows->writable && mounted.insert(folder).second) {
        ViewEntry pin = *shows;
        pin.source = rebase(folder, shows->target, shows->source);
        pin.target = folder;
        list.push_back(std::move(pin));
      }
    }
  }
  return list;
}

// What the policy grants, and what the program needs.
Result<std::vector<ViewEntry>> granted_view(const LaunchSpec& spec, const HostFacts& facts) {
  auto needed = program_view(spec, facts);
  if (!needed) {
    return needed;
  }
  std::vector<ViewEntry> own = std::move(*needed);
  for (const Mount& mount : spec.mounts) {
    own.push_back({.kind = EntryKind::bind,
                   .target = mount.target,
                   .source = mount.source,
                   .writable = mount.writable,
                   .executable = true,
                   .grant = true,
                   .owners = mount.usable_as_is ? Owners::mapped_if_possible : Owners::mapped});
  }
  for (const std::string& path : spec.unix_sockets) {
    if (auto status = check_socket(path, facts); !status) {
      return std::unexpected(status.error());
    }
    own.push_back({.kind = EntryKind::bind,
                   .target = path,
                   .source = path,
                   .grant = true,
                   .socket = true,
                   .owners = Owners::mapped});
  }
  return own;
}

// A parent before what lies in it, else it would hide it.
void sort_by_target(std::vector<ViewEntry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ViewEntry& a, const ViewEntry& b) { return a.target < b.target; });
}

}  // namespace

Status check_grants(const LaunchSpec& spec, const HostFacts& facts) {
  for (const std::string& preset : spec.runtime) {
    if (!is_known_preset(preset)) {
      return fail(Errc::policy_invalid,
                  text::cat("runtime preset '", text::printable(preset), "' is not supported by this version"),
                  "isolation.filesystem.runtime", "use node, python, java, browser, system or none");
    }
  }
  for (const Mount& mount : spec.mounts) {
    if (auto status = check_mount(mount, facts); !status) {
      return status;
    }
  }
  return {};
}

Result<std::vector<ViewEntry>> build_view(const LaunchSpec& spec, const HostFacts& facts) {
  if (auto status = check_grants(spec, facts); !status) {
    return std::unexpected(status.error());
  }
  auto granted = granted_view(spec, facts);
  if (!granted) {
    return granted;
  }
  std::vector<ViewEntry> own = std::move(*granted);
  sort_by_target(own);
  if (auto status = check_targets(own); !status) {
    return std::unexpected(status.error());
  }
  const std::vector<ViewEntry> base = base_view(spec, facts);
  std::vector<ViewEntry> view = base;
  view.insert(view.end(), own.begin(), own.end());
  const auto covers = all_masks(spec, view);
  if (!covers) {
    return covers;
  }
  const auto assemble = [&] {
    sort_by_target(own);
    view = base;
    view.insert(view.end(), own.begin(), own.end());
    view.insert(view.end(), covers->begin(), covers->end());
  };
  const auto add = [&](const std::vector<ViewEntry>& entries) {
    own.insert(own.end(), entries.begin(), entries.end());
    assemble();
  };
  assemble();
  add(pins(view));
  const std::vector<ViewEntry> steering = steering_view(spec, facts);
  for (const ViewEntry& cover : steering) {
    // It holds the folder in place as well, and does not let it be written to.
    std::erase_if(own, [&](const ViewEntry& pin) { return pin.target == cover.target; });
  }
  add(steering);
  std::vector<ViewEntry> above_steering = pins(view);
  for (ViewEntry& pin : above_steering) {
    pin.steering = true;
  }
  add(above_steering);
  return view;
}

}  // namespace cordon::sandbox
