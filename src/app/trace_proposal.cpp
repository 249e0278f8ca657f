// SPDX-License-Identifier: Apache-2.0
#include "app/trace_proposal.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

using sandbox::EntryKind;
using sandbox::TraceAccess;
using sandbox::TraceFinding;
using sandbox::ViewEntry;

// More files than this in one folder are no list that anybody wants to read.
constexpr std::size_t kMaxSiblings = 3;

// Inside path → what it takes.
using Wants = std::map<std::string, Use>;

// What covers those settings below a grant that steer other programs comes of itself, and sockets have a key of their
// own.
bool is_policy_grant(const ViewEntry& entry) { return entry.grant && !entry.socket && !entry.steering; }

const ViewEntry* deepest(const sandbox::Plan& plan, std::string_view path, bool with_steering) {
  const ViewEntry* found = nullptr;
  for (const ViewEntry& entry : plan.view) {
    const bool counts = entry.kind != EntryKind::directory && entry.kind != EntryKind::symlink &&
                        entry.kind != EntryKind::link && !entry.optional && (with_steering || !entry.steering);
    if (counts && is_within(path, entry.target) && (found == nullptr || entry.target.size() >= found->target.size())) {
      found = &entry;
    }
  }
  return found;
}

// The grant of the policy that a path is seen by; null: it is seen by something else, or not at all.
const ViewEntry* grant_of(const sandbox::Plan& plan, std::string_view path) {
  const ViewEntry* entry = deepest(plan, path, false);
  return entry != nullptr && is_policy_grant(*entry) ? entry : nullptr;
}

Use use_of(TraceAccess access) {
  switch (access) {
    case TraceAccess::look:
    case TraceAccess::read:
    case TraceAccess::list:
    case TraceAccess::execute:
      return Use::read;
    case TraceAccess::write:
    case TraceAccess::change:
      return Use::write;
    case TraceAccess::connect:
    case TraceAccess::bind:
      break;
  }
  return Use::none;
}

void want(Wants& wants, const std::string& path, Use use) {
  Use& known = wants[path];
  known = std::max(known, use);
}

bool covered(const Wants& wants, const std::string& path, Use use) {
  for (std::string folder = path; folder != "/";) {
    folder = parent_of(folder);
    const auto found = wants.find(folder);
    if (found != wants.end() && found->second >= use) {
      return true;
    }
  }
  return false;
}

// A name is made or removed in its folder; of a granted file only the file itself is there.
std::string place_of(const TraceFinding& finding, const ViewEntry& grant) {
  return finding.access == TraceAccess::change && finding.path != grant.target ? parent_of(finding.path) : finding.path;
}

// Many children of one folder become that folder, as long as the same grant holds it.
void fold_siblings(const sandbox::Plan& plan, Wants& wants) {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<std::pair<std::string, Use>, std::size_t> children;
    for (const auto& [path, use] : wants) {
      ++children[{parent_of(path), use}];
    }
    for (const auto& [folder, count] : children) {
      if (count <= kMaxSiblings || grant_of(plan, folder.first) == nullptr) {
        continue;
      }
      std::erase_if(wants, [&](const auto& item) {
        return item.second == folder.second && parent_of(item.first) == folder.first;
      });
      want(wants, folder.first, folder.second);
      changed = true;
    }
  }
}

// Asking whether something is there takes a grant of it only when nothing below it is granted anyway.
void add_looks(const std::set<std::string>& looks, Wants& wants) {
  for (const std::string& path : looks) {
    const auto below = wants.lower_bound(path);
    if (below == wants.end() || !is_within(below->first, path)) {
      wants.emplace(path, Use::read);
    }
  }
}

bool plain(std::string_view path) {
  return text::printable(path, 4096) == path && path.find_first_of("\"\\") == std::string_view::npos;
}

std::string shown_grant(const ProposedGrant& grant) {
  return grant.outside == grant.inside ? text::cat('"', grant.outside, '"')
                                       : text::cat("{path: \"", grant.outside, "\", at: \"", grant.inside, "\"}");
}

void add_list(std::vector<std::string>& lines, std::string_view key, const std::vector<std::string>& items) {
  if (items.empty()) {
    lines.push_back(text::cat("    ", key, ": []"));
    return;
  }
  lines.push_back(text::cat("    ", key, ":"));
  for (const std::string& item : items) {
    lines.push_back(text::cat("      - ", item));
  }
}

}  // namespace

std::string_view name(Use use) {
  switch (use) {
    case Use::none:
      return "no";
    case Use::read:
      return "read";
    case Use::write:
      return "write";
  }
  return "no";
}

const ViewEntry* shown_by(const sandbox::Plan& plan, std::string_view path) { return deepest(plan, path, true); }

TraceProposal propose(const ProposalInput& input) {
  TraceProposal out;
  for (const ViewEntry& entry : input.plan.view) {
    if (is_policy_grant(entry)) {
      out.grants.push_back({entry.source, entry.target, entry.writable, Use::none});
    }
  }
  Wants wants;
  std::set<std::string> looks;
  for (const TraceFinding& finding : input.findings) {
    const Use use = use_of(finding.access);
    const ViewEntry* entry = grant_of(input.plan, finding.path);
    if (finding.error_number != 0 || use == Use::none || entry == nullptr) {
      continue;
    }
    for (GrantUse& grant : out.grants) {
      grant.use = grant.inside == entry->target ? std::max(grant.use, use) : grant.use;
    }
    if (finding.access == TraceAccess::look) {
      looks.insert(finding.path);
    } else {
      want(wants, place_of(finding, *entry), use);
    }
  }
  add_looks(looks, wants);
  fold_siblings(input.plan, wants);
  for (const auto& [path, use] : wants) {
    const ViewEntry* entry = grant_of(input.plan, path);
    if (covered(wants, path, use) || entry == nullptr) {
      continue;
    }
    const ProposedGrant grant{rebased(path, entry->target, entry->source), path};
    if (input.is_sensitive(grant.outside) || input.is_sensitive(path) || !plain(grant.outside) || !plain(path)) {
      out.withheld.push_back(grant.outside);
    } else {
      (use == Use::write ? out.write : out.read).push_back(grant);
    }
  }
  for (const ViewEntry& entry : input.plan.view) {
    const auto holds = [&](const ProposedGrant& grant) { return is_within(entry.target, grant.inside); };
    if (entry.kind == EntryKind::cover && !entry.optional && !entry.steering && plain(entry.target) &&
        (std::ranges::any_of(out.read, holds) || std::ranges::any_of(out.write, holds))) {
      out.deny.push_back(entry.target);
    }
  }
  return out;
}

std::vector<std::string> policy_lines(const TraceProposal& proposal, const std::vector<std::string>& runtime) {
  const auto grants = [](const std::vector<ProposedGrant>& list) {
    std::vector<std::string> items;
    std::ranges::transform(list, std::back_inserter(items), shown_grant);
    return items;
  };
  std::vector<std::string> deny;
  for (const std::string& path : proposal.deny) {
    deny.push_back(text::cat('"', path, '"'));
  }
  std::vector<std::string> lines = {
      "isolation:", "  filesystem:", text::cat("    runtime: [", text::join(runtime, ", "), "]")};
  add_list(lines, "read", grants(proposal.read));
  add_list(lines, "write", grants(proposal.write));
  if (!deny.empty()) {
    add_list(lines, "deny", deny);
  }
  if (!proposal.denied_read.empty() || !proposal.denied_write.empty()) {
    lines.emplace_back("    # denied in this run; what the server shall have of that belongs into the lists above:");
  }
  for (const auto& [key, items] :
       {std::pair("read", &proposal.denied_read), std::pair("write", &proposal.denied_write)}) {
    for (const std::string& item : *items) {
      lines.push_back(text::cat("    #   ", key, ": ", item));
    }
  }
  return lines;
}

}  // namespace cordon::app
