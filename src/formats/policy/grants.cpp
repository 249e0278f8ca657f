// SPDX-License-Identifier: Apache-2.0
// Paths that a policy grants or denies: their spelling, and which of them are so wide or so private that the policy has
// to give a reason. Only the text is judged here; what lies behind a path (symlinks, our own files) is for the launch.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/policy/sensitive.hpp"
#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

using Parts = std::vector<std::string_view>;

// Components without empty ones and single dots.
Parts parts_of(std::string_view path) {
  Parts parts = text::split(path, '/');
  std::erase_if(parts, [](std::string_view part) { return part.empty() || part == "."; });
  return parts;
}

// One spelling per path: no trailing or doubled slashes, no single dots.
std::string normal(std::string_view path) {
  std::string out;
  for (const std::string_view part : parts_of(path)) {
    out += path.starts_with('/') || !out.empty() ? text::cat("/", part) : std::string(part);
  }
  return out.empty() ? "/" : out;
}

std::optional<std::string> read_inside(Faults& faults, const yaml::Node& node, std::string_view what) {
  auto path = read_path(faults, node, what);
  if (!path) {
    return std::nullopt;
  }
  constexpr std::array<std::string_view, 3> kOurs = {"dev", "proc", "sys"};
  const Parts parts = parts_of(*path);
  if (!path->starts_with('/') || parts.empty() || std::ranges::find(kOurs, parts.front()) != kOurs.end()) {
    faults.add(node.position,
               text::cat(what, " must be an absolute path, not /, and not in /dev, /proc or /sys: ", quote(*path)),
               "name a place inside the sandbox such as /data");
    return std::nullopt;
  }
  return path;
}

policy::Grant read_mapping(Faults& faults, const yaml::Node& node, std::string_view what, GrantKind kind) {
  policy::Grant grant;
  grant.position = node.position;
  const Section section(faults, node, std::string(what), {"path", "at", "reason"});
  if (const yaml::Member* path = section.find("path")) {
    grant.path = read_path(faults, path->value, section.path("path")).value_or("");
  } else {
    faults.add(node.position, text::cat("an item of ", what, " names no path"),
               kind == GrantKind::socket
                   ? "write {path: /run/service.sock, reason: \"...\"}; reason may be left out"
                   : "write {path: /folder, at: /inside, reason: \"...\"}; at and reason may be left out");
  }
  if (const yaml::Member* at = section.find("at"); at != nullptr && kind == GrantKind::deny) {
    faults.add(at->position, text::cat(section.path("at"), " means nothing: a denied path shows nowhere"),
               "remove it, and name the path outside, as it is granted");
  } else if (at != nullptr && kind == GrantKind::socket) {
    faults.add(at->position, text::cat(section.path("at"), " means nothing: a socket shows at its own path"),
               "remove it");
  } else if (at != nullptr) {
    grant.at = read_inside(faults, at->value, section.path("at")).value_or("");
  }
  section.text("reason", grant.reason, {TextForm::free, Emptiness::refused});
  return grant;
}

}  // namespace

std::optional<std::string> read_path(Faults& faults, const yaml::Node& node, std::string_view what) {
  auto path = read_text(faults, node, what);
  if (!path) {
    return std::nullopt;
  }
  if (!path->starts_with('/') && *path != "~" && !path->starts_with("~/")) {
    faults.add(node.position, text::cat(what, " must be an absolute path or begin with ~/, not ", quote(*path)),
               "write the path from / or from ~/ on; policies do not depend on the working directory");
    return std::nullopt;
  }
  const Parts parts = parts_of(*path);
  if (std::ranges::find(parts, "..") != parts.end()) {
    faults.add(node.position, text::cat(what, " must not contain ..: ", quote(*path)), "write the path that is meant");
    return std::nullopt;
  }
  if (path->size() >= 4096) {
    faults.add(node.position, text::cat(what, " is longer than a path can be (4095 bytes)"), "name a shorter path");
    return std::nullopt;
  }
  return path;
}

std::vector<policy::Grant> read_grants(Faults& faults, const yaml::Node& list, std::string_view what, GrantKind kind) {
  std::vector<policy::Grant> grants;
  const auto* items = read_list(faults, list, what, ListEmptiness::allowed);
  if (items == nullptr) {
    return grants;
  }
  for (const yaml::Node& item : *items) {
    policy::Grant grant;
    if (item.kind == yaml::Kind::mapping) {
      grant = read_mapping(faults, item, what, kind);
    } else {
      grant.position = item.position;
      grant.path = read_path(faults, item, text::cat("an item of ", what)).value_or("");
    }
    if (grant.path.empty()) {
      continue;
    }
    // The caller's HOME is not known here; the launch judges again.
    const auto why = kind == GrantKind::deny ? std::nullopt : policy::why_sensitive(grant.path);
    if (why && grant.reason.empty()) {
      faults.add(grant.position, text::cat("a grant of ", quote(grant.path), " gives away ", *why),
                 text::cat("grant something narrower, or say why: {path: \"", text::printable(grant.path, 80),
                           "\", reason: \"...\"}"));
    }
    grants.push_back(std::move(grant));
  }
  return grants;
}

void check_repeated_grants(Faults& faults, const policy::Isolation& isolation) {
  struct Entry {
    const policy::Grant* grant = nullptr;
    bool writable = false;
  };
  std::vector<Entry> entries;
  for (const policy::Grant& grant : isolation.read) {
    entries.push_back({&grant, false});
  }
  for (const policy::Grant& grant : isolation.write) {
    entries.push_back({&grant, true});
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) {
    return std::pair(entry.grant->position.line, entry.grant->position.column);
  });
  std::map<std::string, Entry> seen;
  for (const Entry& entry : entries) {
    const policy::Grant& grant = *entry.grant;
    const std::string inside = normal(grant.at.empty() ? grant.path : grant.at);
    const auto [place, inserted] = seen.emplace(inside, entry);
    const Entry& first = place->second;
    // The same thing in read and in write is fine: write implies read.
    const bool same = normal(first.grant->path) == normal(grant.path);
    if (!inserted && !(same && first.writable != entry.writable)) {
      faults.add(
          grant.position,
          text::cat("two grants appear at ", quote(inside), " (the first in line ", first.grant->position.line, ")"),
          same ? "keep one of them" : "keep one of them, or put one elsewhere with at:");
    }
  }
}

}  // namespace cordon::formats
