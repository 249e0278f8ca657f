// SPDX-License-Identifier: Apache-2.0
#include "app/diagnose.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>

#include "app/launch_plan.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"
#include "egress/name.hpp"

namespace cordon::app {
namespace {

using sandbox::EntryKind;
using sandbox::PathKind;
using sandbox::ViewEntry;

std::string shown_path(std::string_view path) { return text::cat('\'', text::printable(path, 1024), '\''); }

// Paths with quotes, backslashes or worse are not proposed at all.
std::string yaml_word(std::string_view path) { return text::cat('"', path, '"'); }

std::string grant_line(std::string_view access, std::string_view outside, std::string_view inside) {
  const std::string grant = outside == inside
                                ? yaml_word(outside)
                                : text::cat("{path: ", yaml_word(outside), ", at: ", yaml_word(inside), '}');
  return text::cat("isolation.filesystem.", access, ": [", grant, ']');
}

// The entry that shows the path, or hides it; the last, deepest one, as with mounts.
const ViewEntry* entry_for(const sandbox::Plan& plan, std::string_view path) {
  const ViewEntry* found = nullptr;
  for (const ViewEntry& entry : plan.view) {
    const bool counts = entry.kind != EntryKind::directory && entry.kind != EntryKind::symlink &&
                        entry.kind != EntryKind::link && !entry.optional;
    if (counts && is_within(path, entry.target) && (found == nullptr || entry.target.size() >= found->target.size())) {
      found = &entry;
    }
  }
  return found;
}

bool enforced(const sandbox::Plan& plan, std::string_view guarantee) {
  const sandbox::Guarantee* found = sandbox::find_guarantee(plan, guarantee);
  return found != nullptr && found->strength != sandbox::Strength::no;
}

// A grant is proposed for a file or folder that is there, whose name can stand in a line, and that gives nothing away.
std::string proposal(const Surroundings& around, std::string_view access, const std::string& outside,
                     const std::string& inside) {
  const bool plain = text::printable(outside, 2000) == outside && outside.find('"') == std::string::npos &&
                     text::printable(inside, 2000) == inside && inside.find('"') == std::string::npos;
  if (!plain || outside == "/" || is_within(around.home, outside) || around.is_sensitive(outside) ||
      around.is_sensitive(inside)) {
    return {};
  }
  return grant_line(access, outside, inside);
}

// It is nowhere in the view, or in a private part of it that hides what is outside.
std::optional<Finding> not_shown(const Complaint& complaint, const Surroundings& around, const ViewEntry* entry) {
  std::string outside = complaint.path;
  std::string why = text::cat(shown_path(outside), " is there, but nothing in the policy shows it to the server");
  if (is_within(complaint.path, kInsideHome)) {
    outside = rebased(complaint.path, kInsideHome, around.home);
    why = text::cat("the server has a home of its own, without ", shown_path(outside));
  } else if (entry != nullptr) {
    why = text::cat("the server has ", shown_path(entry->target), " for itself, without what lies there outside");
  }
  switch (around.outside(outside)) {
    case PathKind::file:
    case PathKind::directory:
      return Finding{why, proposal(around, complaint.writes ? "write" : "read", outside, complaint.path)};
    case PathKind::symlink:
      return Finding{text::cat(why, "; it is reached through a symlink, so grant what that leads to"), {}};
    case PathKind::socket:
      return Finding{text::cat(shown_path(outside),
                               " is a socket: those that may be reached stand in "
                               "isolation.unix_sockets"),
                     {}};
    case PathKind::other:
      return Finding{text::cat(shown_path(outside), " is a pipe or a device: those are not granted"), {}};
    case PathKind::absent:
      break;
  }
  // Something new in a folder that the server does not have.
  const std::string folder = parent_of(outside);
  if (complaint.writes && entry == nullptr && around.outside(folder) == PathKind::directory) {
    return Finding{text::cat("nothing in the policy shows ", shown_path(folder), " to the server"),
                   proposal(around, "write", folder, parent_of(complaint.path))};
  }
  // Whether it was to be read or made is not known, so nothing is proposed.
  if (complaint.ailment == Ailment::missing && !complaint.seen && !complaint.writes &&
      !is_within(complaint.path, kInsideHome) && folder != "/" && (entry == nullptr || folder != entry->target) &&
      around.outside(folder) == PathKind::directory) {
    return Finding{
        text::cat("nothing in the policy shows ", shown_path(folder), " to the server, and ",
                  shown_path(file_name_of(outside)),
                  " is not there outside either; what it shall make there takes a write grant of the folder"),
        {}};
  }
  return std::nullopt;
}

std::optional<Finding> in_package(const Complaint& complaint) {
  if (!complaint.writes) {
    return std::nullopt;
  }
  return Finding{text::cat(shown_path(complaint.path),
                           " lies in the server's own package, which stays as it was reviewed; a setting of the server "
                           "can name a folder below /home/cordon instead (launch.environment.set)"),
                 {}};
}

std::optional<Finding> shown_read_only(const Complaint& complaint, const Surroundings& around, const ViewEntry& entry) {
  if (complaint.starts_program) {
    return std::nullopt;
  }
  if (!entry.grant) {
    return complaint.writes
               ? std::optional(Finding{text::cat(shown_path(complaint.path),
                                                 " belongs to the system or to the server's own program, which it may "
                                                 "not change; let it write to its home or to a granted folder"),
                                       {}})
               : std::nullopt;
  }
  if (!complaint.writes) {
    return Finding{text::cat(shown_path(entry.target),
                             " is granted for reading; what refuses to be read there does so "
                             "by its own owner and mode"),
                   {}};
  }
  // What is to be made needs its folder.
  std::string inside = complaint.path;
  if (around.outside(rebased(inside, entry.target, entry.source)) == PathKind::absent && inside != entry.target) {
    inside = parent_of(inside);
  }
  return Finding{text::cat(shown_path(complaint.path), " lies in ", shown_path(entry.target),
                           ", which isolation.filesystem.read grants for reading only"),
                 proposal(around, "write", rebased(inside, entry.target, entry.source), inside)};
}

std::optional<Finding> about_path(const Complaint& complaint, const Surroundings& around) {
  if (complaint.path.empty() || !enforced(around.plan, "filesystem")) {
    return std::nullopt;
  }
  const ViewEntry* entry = entry_for(around.plan, complaint.path);
  if (entry == nullptr) {
    return not_shown(complaint, around, nullptr);
  }
  if (entry->steering && !entry->writable) {
    // Never proposed: it would hand over what the user's other programs do.
    return Finding{text::cat(shown_path(complaint.path),
                             " decides what other programs do, and is read-only below a "
                             "write grant, also where it does not exist"),
                   {}};
  }
  switch (entry->kind) {
    case EntryKind::cover:
      return Finding{text::cat(shown_path(complaint.path), " is masked by isolation.filesystem.deny"), {}};
    case EntryKind::tmpfs:
      if (complaint.ailment == Ailment::denied && complaint.starts_program) {
        return Finding{text::cat("nothing in ", shown_path(entry->target), " may be executed"), {}};
      }
      return complaint.ailment == Ailment::missing ? not_shown(complaint, around, entry) : std::nullopt;
    case EntryKind::bind:
      // What is to be made there may be reported as missing, too.
      if (!around.packages.empty() && is_within(entry->source, around.packages)) {
        return in_package(complaint);
      }
      if (complaint.ailment == Ailment::missing) {
        // A kept home is bound, too.
        return is_within(complaint.path, kInsideHome) ? not_shown(complaint, around, entry) : std::nullopt;
      }
      if (entry->writable) {
        return entry->grant
                   ? std::optional(Finding{text::cat("the sandbox lets the server write to ",
                                                     shown_path(complaint.path), "; its own owner and mode refuse it"),
                                           {}})
                   : std::nullopt;
      }
      return shown_read_only(complaint, around, *entry);
    case EntryKind::file:
    case EntryKind::proc:
    case EntryKind::device:
    case EntryKind::freeze:
      if (complaint.ailment == Ailment::missing) {
        return std::nullopt;
      }
      return Finding{text::cat(shown_path(complaint.path), " is the sandbox's own and stays as it is"), {}};
    case EntryKind::directory:
    case EntryKind::symlink:
    case EntryKind::link:
      break;
  }
  return std::nullopt;
}

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("::1") ||
         host.starts_with("[::1]");
}

std::optional<Finding> about_network(const Complaint& complaint, const Surroundings& around) {
  if (!complaint.path.empty()) {
    return Finding{text::cat("isolation.unix_sockets: none denies the socket ", shown_path(complaint.path)), {}};
  }
  if (!enforced(around.plan, "network")) {
    return std::nullopt;
  }
  const std::string host = complaint.host.empty() ? "another host" : shown_path(complaint.host);
  if (around.plan.network.hosts()) {
    if (is_loopback(complaint.host)) {
      return Finding{text::cat("the server has a loopback of its own: what listens on ", host,
                               " outside is there only where isolation.network.allow lists it"),
                     {}};
    }
    // What was denied has a line of its own (egress_denied), with the reason and what would allow it. Only UDP and IPv6
    // leave none.
    return complaint.ailment == Ailment::unreachable
               ? std::optional(Finding{text::cat("isolation.network.allow does not let ", host, " be reached"), {}})
               : std::nullopt;
  }
  if (is_loopback(complaint.host)) {
    return Finding{text::cat("the server has a loopback of its own (isolation.network: none): what listens on ", host,
                             " outside is not there"),
                   {}};
  }
  // A name only: an address needs a decision of its own, and what is none names nothing.
  const std::optional<std::string> name = egress::canonical_host(complaint.host);
  const bool nameable = name && name->find('.') != std::string::npos;
  return Finding{text::cat("isolation.network: none denies ", host),
                 nameable ? text::cat("isolation.network.allow: [", yaml_word(*name + ":443"), ']') : std::string()};
}

std::optional<Finding> about_limit(std::string_view key, const std::optional<std::uint64_t>& limit) {
  if (!limit) {
    return std::nullopt;
  }
  return Finding{text::cat("isolation.limits.", key, " is ", *limit),
                 text::cat("isolation.limits.", key, ": ", *limit * 2)};
}

}  // namespace

std::optional<ProposedItem> proposed_item(std::string_view proposal) {
  constexpr std::string_view kSection = "isolation.filesystem.";
  const std::size_t open = proposal.find(": [");
  if (!proposal.starts_with(kSection) || open == std::string_view::npos || !proposal.ends_with(']')) {
    return std::nullopt;
  }
  const std::string_view item = proposal.substr(open + 3);
  return ProposedItem{proposal.substr(kSection.size(), open - kSection.size()), item.substr(0, item.size() - 1)};
}

std::optional<Finding> diagnose(const Complaint& complaint, const Surroundings& around) {
  const sandbox::Limits& limits = around.plan.limits;
  switch (complaint.ailment) {
    case Ailment::denied:
      if (!complaint.call.empty() && around.plan.syscall_filter) {
        return Finding{text::cat("the list of system calls (isolation.syscalls) leaves out what '", complaint.call,
                                 "' needs; no line grants single calls"),
                       {}};
      }
      return about_path(complaint, around);
    case Ailment::missing:
    case Ailment::read_only:
      return about_path(complaint, around);
    case Ailment::library:
      return enforced(around.plan, "filesystem")
                 ? std::optional(Finding{
                       text::cat("the library ", shown_path(complaint.library),
                                 " is in no folder that the server sees; find its folder with `ldconfig -p` and "
                                 "grant that for reading"),
                       {}})
                 : std::nullopt;
    case Ailment::refused:
    case Ailment::unreachable:
    case Ailment::unresolved:
      return about_network(complaint, around);
    case Ailment::memory:
      return about_limit("memory", limits.memory_bytes);
    case Ailment::open_files:
      return about_limit("open_files", limits.open_files);
    case Ailment::processes:
      return about_limit("processes", limits.processes);
    case Ailment::no_space: {
      const ViewEntry* entry = complaint.path.empty() ? nullptr : entry_for(around.plan, complaint.path);
      return entry != nullptr && entry->kind == EntryKind::tmpfs
                 ? std::optional(Finding{text::cat(shown_path(entry->target), " holds ", entry->size_bytes,
                                                   " bytes at most; let it write to a granted folder"),
                                         {}})
                 : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Finding> diagnose_exit(const gate::ExitReport& report, const sandbox::Plan& plan) {
  // A helper beside the server passes a signal on as 128 and its number.
  const int number = report.signalled ? report.code : report.code - 128;
  if (number == SIGSYS && plan.syscall_filter) {
    return Finding{"the kernel ended it for a system call of another architecture (32 bits, x32), which none may make",
                   {}};
  }
  if (number == SIGXCPU) {
    return about_limit("cpu_seconds", plan.limits.cpu_seconds);
  }
  return number == SIGXFSZ ? about_limit("file_size", plan.limits.file_size_bytes) : std::nullopt;
}

PathKind kind_outside(const std::string& path) {
  struct stat info = {};
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    if (::lstat(path.substr(0, end).c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
      return ::stat(path.c_str(), &info) == 0 ? PathKind::symlink : PathKind::absent;
    }
  }
  if (::lstat(path.c_str(), &info) != 0) {
    return PathKind::absent;
  }
  return S_ISREG(info.st_mode)    ? PathKind::file
         : S_ISDIR(info.st_mode)  ? PathKind::directory
         : S_ISLNK(info.st_mode)  ? PathKind::symlink
         : S_ISSOCK(info.st_mode) ? PathKind::socket
                                  : PathKind::other;
}

}  // namespace cordon::app
