// SPDX-License-Identifier: Apache-2.0
// Control groups: which of the machine's we live in, and whether we may make one of our own there. A limit of memory
// for a whole tree of processes needs that, and nothing else does.
//
// Version 1 has a hierarchy for each controller. Version 2 has one for all, and there a group that has groups with
// controllers below it may hold no process itself: if we live in the group that was delegated to us, we have to move
// into a leaf, which we do only when nobody else lives there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/probe_parts.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kHint =
    "start it in a control group of its own: systemd-run --user --scope -p Delegate=yes -- mcp-cordon run …, or take "
    "limits.memory out of the policy";

std::string read_text(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  std::string out;
  std::array<char, 4096> buffer = {};
  ssize_t length = 0;
  while (file && (length = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    out.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return out;
}

bool has_word(std::string_view list, std::string_view wanted, char separator) {
  const std::vector<std::string_view> words = text::split(list, separator);
  return std::ranges::find(words, wanted) != words.end();
}

std::string_view without_newline(std::string_view text) { return text.substr(0, text.find_last_not_of('\n') + 1); }

struct GroupMount {
  std::string_view root = {};   // of the hierarchy, which part of it is mounted
  std::string_view point = {};  // where
  std::string_view type = {};
  std::string_view options = {};
};

std::vector<GroupMount> group_mounts(std::string_view mounts) {
  std::vector<GroupMount> list;
  for (const std::string_view line : text::split(mounts, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) {
      continue;
    }
    const std::vector<std::string_view> front = text::split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> back = text::split(line.substr(dash + 3), ' ');
    const bool group = back.size() >= 3 && (back[0] == "cgroup" || back[0] == "cgroup2");
    // A backslash stands for a blank or the like; nobody mounts control groups at such a place.
    if (group && front.size() >= 5 && line.find('\\') == std::string_view::npos) {
      list.push_back({front[3], front[4], back[0], back[2]});
    }
  }
  return list;
}

// Our group as a folder: the mount point, and of the path what lies below the part that is mounted there.
std::string folder_of(const GroupMount& mount, std::string_view path) {
  if (!is_normal_path(path) || !is_normal_path(mount.root) || !is_within(path, mount.root)) {
    return {};  // outside of what is mounted
  }
  std::string folder(mount.point);
  if (path != mount.root) {
    folder += mount.root == "/" ? std::string(path) : std::string(path.substr(mount.root.size()));
  }
  return is_normal_path(folder) ? folder : std::string();
}

// Makes a group and takes it away again. 0 or an errno.
int try_group(const GroupPlace& place) {
  const std::string trial = text::cat(place.folder, "/", kGroupPrefix, ::getpid(), "-trial");
  if (::mkdir(trial.c_str(), 0755) != 0) {
    return errno;
  }
  int error_number = 0;
  if (!place.unified && place.memory && ::access(text::cat(trial, "/memory.limit_in_bytes").c_str(), W_OK) != 0) {
    error_number = errno;
  }
  ::rmdir(trial.c_str());
  return error_number;
}

Trial denied(std::string step, int error_number) {
  return {.step = std::move(step),
          .error_number = error_number,
          .reason = "no_cgroup_delegation",
          .hint = std::string(kHint)};
}

// Where below a group of version 2 ours may come into being; nothing: nowhere.
bool settle_unified(GroupPlace& place, const std::function<bool(std::string_view)>& ours) {
  const std::string parent(parent_path(place.folder));
  const auto passes_memory_on = [](const std::string& folder) {
    return has_word(without_newline(read_text(folder + "/cgroup.subtree_control")), "memory", ' ');
  };
  if (last_component(place.folder).starts_with(kGroupPrefix) && passes_memory_on(parent)) {
    place.folder = parent;  // the leaf that an earlier launch has moved us to
    return true;
  }
  if (::access((place.folder + "/cgroup.type").c_str(), F_OK) != 0) {
    return true;  // the root of all, the one group that may hold both
  }
  for (const std::string_view pid : text::split(without_newline(read_text(place.folder + "/cgroup.procs")), '\n')) {
    if (!pid.empty() && !ours(pid)) {
      return false;
    }
  }
  place.leaf = true;
  return true;
}

// Ourselves, or a process that we have started.
bool is_ours(std::string_view pid) {
  std::string at(pid);
  constexpr int kDepth = 64;
  for (int level = 0; level < kDepth; ++level) {
    if (at == std::to_string(::getpid())) {
      return true;
    }
    const std::string stat = read_text(text::cat("/proc/", at, "/stat"));
    const std::size_t name_end = stat.rfind(')');  // ") S PPID …"
    if (name_end == std::string::npos || name_end + 4 >= stat.size()) {
      return false;
    }
    at = stat.substr(name_end + 4, stat.find(' ', name_end + 4) - name_end - 4);
  }
  return false;
}

}  // namespace

std::vector<GroupPlace> find_group_places(std::string_view groups, std::string_view mounts) {
  const std::vector<GroupMount> mounted = group_mounts(mounts);
  std::vector<GroupPlace> places;
  for (const std::string_view line : text::split(groups, '\n')) {
    // "4:memory:/path", with version 2 "0::/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    GroupPlace place{.unified = controllers.empty(),
                     .memory = has_word(controllers, "memory", ','),
                     .processes = has_word(controllers, "pids", ',')};
    for (const GroupMount& mount : mounted) {
      const bool fits = place.unified ? mount.type == "cgroup2"
                                      : mount.type == "cgroup" && (place.memory || place.processes) &&
                                            has_word(mount.options, place.memory ? "memory" : "pids", ',');
      place.folder = fits ? folder_of(mount, line.substr(second + 1)) : std::string();
      if (!place.folder.empty()) {
        places.push_back(place);
        break;
      }
    }
  }
  return places;
}

GroupFacts judge_group_places(std::vector<GroupPlace> places, const std::function<bool(std::string_view)>& ours) {
  GroupFacts facts;
  facts.trial = denied("find", ENOENT);
  // Memory first, since its refusal is the one to tell.
  std::ranges::partition(places, &GroupPlace::memory);
  for (GroupPlace& place : places) {
    if (place.unified) {
      const std::string controllers = read_text(place.folder + "/cgroup.controllers");
      place.memory = has_word(without_newline(controllers), "memory", ' ');
      place.processes = has_word(without_newline(controllers), "pids", ' ');
    }
    if (!place.memory && !place.processes) {
      continue;
    }
    if (place.unified && !settle_unified(place, ours)) {
      facts.trial = denied("leaf", EBUSY);
      continue;
    }
    if (const int error_number = try_group(place); error_number != 0) {
      if (place.memory) {
        facts.trial = denied("mkdir", error_number);
      }
      continue;
    }
    if (place.memory) {
      facts.trial = {.works = true, .step = "done"};
    }
    facts.places.push_back(place);
  }
  if (!facts.trial.works) {
    facts.places.clear();
  }
  return facts;
}

GroupFacts probe_groups() {
  return judge_group_places(find_group_places(read_text("/proc/self/cgroup"), read_text("/proc/self/mountinfo")),
                            is_ours);
}

}  // namespace cordon::sandbox
