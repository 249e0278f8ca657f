// SPDX-License-Identifier: Apache-2.0
// The view of a backend that mounts nothing: a list of what may be opened, each thing at its own path. What is not in
// the list is still there, it only cannot be opened.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/select.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

// What runtimes read about the machine. Nothing of a process: the number in such a path would be one of the machine's.
constexpr std::array<std::string_view, 11> kProcFiles = {"/proc/cpuinfo",
                                                         "/proc/filesystems",
                                                         "/proc/loadavg",
                                                         "/proc/meminfo",
                                                         "/proc/stat",
                                                         "/proc/uptime",
                                                         "/proc/version",
                                                         "/proc/sys/kernel/ngroups_max",
                                                         "/proc/sys/kernel/osrelease",
                                                         "/proc/sys/vm/max_map_count",
                                                         "/proc/sys/vm/overcommit_memory"};

ViewEntry shown(std::string_view path) {
  return {.kind = EntryKind::bind, .target = std::string(path), .source = std::string(path)};
}

ViewEntry folder_of_ours(const std::string& path) {
  ViewEntry entry = shown(path);
  entry.writable = true;
  entry.owners = Owners::given;
  return entry;
}

std::unexpected<Error> not_offered(std::string_view backend, std::string_view requirement, std::string_view because,
                                   std::string hint) {
  return std::unexpected(to_error({.backend = std::string(backend),
                                   .requirement = std::string(requirement),
                                   .because = std::string(because),
                                   .reason = "not_offered",
                                   .hint = std::move(hint)}));
}

Status check_places(const LaunchSpec& spec, std::string_view backend) {
  for (const Mount& mount : spec.mounts) {
    if (mount.source != mount.target) {
      return not_offered(backend, "filesystem.read", text::cat("at: ", text::printable(mount.target)),
                         text::cat(backend, " shows everything at its own path: take `at` out, or use native"));
    }
  }
  if (!spec.unix_sockets.empty()) {
    return not_offered(backend, "ipc.unix_sockets", "isolation.unix_sockets",
                       text::cat(backend, " lets no socket be made: write unix_sockets: none, or use native"));
  }
  if (!spec.deny.empty()) {
    return not_offered(backend, "filesystem.deny", "isolation.filesystem.deny",
                       text::cat(backend, " cannot hide a part of what is granted: grant less, or use native"));
  }
  return {};
}

// Landlock adds up what is allowed on the way to a file: what lies in a writable place is writable.
Status check_nested(const std::vector<ViewEntry>& view, std::string_view backend) {
  for (const ViewEntry& entry : view) {
    for (const ViewEntry& outer : view) {
      if (!entry.writable && outer.writable && is_within(entry.target, outer.target)) {
        return not_offered(backend, "filesystem.write", text::printable(entry.target),
                           text::cat(backend, " cannot keep a place read-only in ", text::printable(outer.target),
                                     ": grant them apart, or use native"));
      }
    }
  }
  return {};
}

void add_system(std::vector<ViewEntry>& view, const HostFacts& facts) {
  for (const SystemPath& path : facts.system_paths) {
    // Symlinks are there anyway; what they lead to is in this list by its own path.
    if (path.kind == PathKind::directory || path.kind == PathKind::file) {
      view.push_back(shown(path.path));
      view.back().executable = !is_within(path.path, "/etc");
    }
  }
}

}  // namespace

Result<std::vector<ViewEntry>> host_view(const LaunchSpec& spec, const HostFacts& facts, std::string_view backend) {
  if (auto status = check_grants(spec, facts); !status) {
    return std::unexpected(status.error());
  }
  if (auto status = check_places(spec, backend); !status) {
    return std::unexpected(status.error());
  }
  auto needed = program_view(spec, facts);
  if (!needed) {
    return needed;
  }
  std::vector<ViewEntry> view;
  for (const std::string_view path : device_list()) {
    view.push_back(
        {.kind = EntryKind::device, .target = std::string(path), .source = std::string(path), .writable = true});
  }
  for (const std::string_view path : kProcFiles) {
    view.push_back(shown(path));
    view.back().optional = true;
  }
  if (shows_system(spec)) {
    add_system(view, facts);
  }
  for (const std::string* folder : {&spec.home_source, &spec.temp_source}) {
    if (!folder->empty()) {
      view.push_back(folder_of_ours(*folder));
    }
  }
  for (ViewEntry& entry : *needed) {
    if (entry.kind == EntryKind::bind) {
      entry.owners = Owners::as_outside;
      view.push_back(std::move(entry));
    }
  }
  for (const Mount& mount : spec.mounts) {
    view.push_back(shown(mount.source));
    view.back().writable = mount.writable;
    view.back().executable = view.back().grant = true;
  }
  if (auto status = check_nested(view, backend); !status) {
    return std::unexpected(status.error());
  }
  return view;
}

}  // namespace cordon::sandbox
