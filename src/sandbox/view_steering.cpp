// SPDX-License-Identifier: Apache-2.0
// The covers for what steers other programs below a write grant: read-only at its own place, and where it is absent an
// empty one that is put there.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/steering.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

// The grant that shows this place inside: the deepest one.
const Mount* shown_by(const LaunchSpec& spec, const std::string& target) {
  const Mount* found = nullptr;
  for (const Mount& mount : spec.mounts) {
    if (is_within(target, mount.target) && (found == nullptr || mount.target.size() > found->target.size())) {
      found = &mount;
    }
  }
  return found;
}

bool is_denied(const LaunchSpec& spec, const std::string& target) {
  return std::ranges::any_of(spec.deny, [&](const std::string& deny) { return is_within(target, deny); });
}

}  // namespace

std::vector<ViewEntry> steering_view(const LaunchSpec& spec, const HostFacts& facts) {
  std::vector<ViewEntry> covers;
  std::set<std::string> targets;
  for (const SteeringPlace& place : facts.steering) {
    for (const Mount& mount : spec.mounts) {
      // A grant of the very thing is the named way around, and one that lies deeper has its own covers.
      if (!mount.writable || place.path == mount.source || !is_within(place.path, mount.source)) {
        continue;
      }
      std::string target = rebase(place.path, mount.source, mount.target);
      const Mount* shown = shown_by(spec, target);
      if (shown != &mount || is_denied(spec, target) || !targets.insert(target).second) {
        continue;
      }
      // A folder that is put there shows another empty one: its own is where launches agree about it
      // (stage/places.cpp).
      if (place.link) {
        covers.push_back({.kind = EntryKind::link,
                          .target = std::move(target),
                          .source = place.path,
                          .text = place.text,
                          .grant = true,
                          .steering = true});
        continue;
      }
      covers.push_back({.kind = place.absent && !place.file ? EntryKind::cover : EntryKind::bind,
                        .target = std::move(target),
                        .source = place.path,
                        .text = place.text,
                        .executable = true,
                        .grant = true,
                        .steering = true,
                        .held = place.absent,
                        .owners = mount.usable_as_is ? Owners::mapped_if_possible : Owners::mapped,
                        .mode = place.file ? 0644U : 0755U});
    }
  }
  return covers;
}

void leave_links(std::vector<ViewEntry>& view) {
  std::erase_if(view, [](const ViewEntry& entry) { return entry.kind == EntryKind::link; });
}

bool holds_links(std::span<const ViewEntry> view) {
  return std::ranges::find(view, EntryKind::link, &ViewEntry::kind) != view.end();
}

Guarantee steering_guarantee(const HostFacts& facts, std::span<const ViewEntry> view) {
  const bool links = holds_links(view);
  Guarantee out{.name = "filesystem.steering", .strength = Strength::enforced, .reason = "read-only covers"};
  for (const SteeringGap& gap : facts.steering_gaps) {
    if (gap.link && links) {
      continue;
    }
    if (!gap.accepted) {
      out.strength = Strength::partial;
      out.reason = gap.reason;
      out.hint = text::cat("grant less than what holds '", text::printable(gap.path),
                           "', or say why in the grant: {path: ..., reason: \"...\"}");
      return out;
    }
    out.reason += text::cat(", but for what a grant with a reason accepts: ", gap.reason);
  }
  return out;
}

std::vector<Step> place_steps(const Plan& plan) {
  const bool needed = std::ranges::any_of(plan.view, &ViewEntry::held);
  return needed ? std::vector<Step>{Step::places} : std::vector<Step>{};
}

}  // namespace cordon::sandbox
