// SPDX-License-Identifier: Apache-2.0
#include "app/review.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "core/catalog/compare.hpp"
#include "core/catalog/interface.hpp"
#include "core/catalog/variables.hpp"

namespace cordon::app {
namespace {

using catalog::PinnedTool;
using catalog::Snapshot;

constexpr std::string_view kUnknown = "unknown";

std::vector<PinnedTool>::iterator place_of(Snapshot& snapshot, std::string_view name) {
  return std::ranges::lower_bound(snapshot.tools, name, {},
                                  [](const PinnedTool& tool) -> std::string_view { return tool.name; });
}

// Definitions that count as the same keep their pin, whatever class the candidate file carries.
void carry_over(const Snapshot& base, Snapshot& candidate) {
  for (PinnedTool& tool : candidate.tools) {
    const PinnedTool* pinned = base.find(tool.name);
    if (pinned != nullptr && catalog::relate(pinned->definition, tool.definition) != catalog::Relation::changed) {
      std::string interface = std::move(tool.interface);
      std::string about = std::move(tool.interface_facts);
      tool = *pinned;
      tool.interface = std::move(interface);
      tool.interface_facts = std::move(about);
    }
  }
}

}  // namespace

Review::Review(std::optional<Snapshot> pinned, Snapshot candidate, ReviewScope scope)
    : candidate_(std::move(candidate)) {
  if (pinned && pinned->reviewed && !pinned->unattended) {
    base_ = std::move(*pinned);
    carry_over(base_, candidate_);
  } else {
    base_.server = candidate_.server;
    base_.reviewed = false;
    base_.launch = candidate_.launch;
  }
  collect(scope);
}

void Review::collect(ReviewScope scope) {
  for (const catalog::ItemChange& change : catalog::diff(base_, candidate_).changes) {
    if (change.kind == catalog::ChangeKind::cosmetic || change.item == "effect") {
      continue;
    }
    ReviewItem item;
    item.change = change;
    if (change.item == "tool" && change.kind != catalog::ChangeKind::removed) {
      offer_class(item);
    }
    if (change.omitted_places > 0) {
      item.whole = whole_of(change);
    }
    items_.push_back(std::move(item));
  }
  add_unchanged_tools(scope);
}

// A new tool gets what is proposed. The class of an old definition is offered again, unless the new one looks worse
// than the old one did; the person sees difference and reasons.
void Review::offer_class(ReviewItem& item) const {
  const catalog::ItemChange& change = item.change;
  const PinnedTool* pinned = base_.find(change.kind == catalog::ChangeKind::renamed ? change.old_name : change.name);
  const PinnedTool* live = candidate_.find(change.name);
  if (live != nullptr) {
    item.proposal = catalog::propose_effect(live->definition);
  }
  item.effect = item.proposal.effect;
  if (pinned == nullptr || pinned->effect_source != catalog::EffectSource::reviewer) {
    return;
  }
  const auto rank = [](std::string_view effect) { return catalog::effect_rank(effect).value_or(0); };
  const bool looks_worse = rank(item.proposal.effect) > rank(catalog::propose_effect(pinned->definition).effect);
  if (!looks_worse || rank(item.proposal.effect) <= rank(pinned->effect)) {
    item.effect = pinned->effect;
    item.kept = pinned->when;
  }
}

std::vector<catalog::EffectCondition> ReviewItem::when() const {
  const auto rank = [](std::string_view name) { return catalog::effect_rank(name).value_or(0); };
  std::vector<catalog::EffectCondition> out;
  if (conditions == Conditions::none) {
    return out;
  }
  out = kept;
  for (const catalog::ConditionalEffect& proposed : proposal.when) {
    const bool known = std::ranges::any_of(out, [&](const catalog::EffectCondition& one) {
      return one.argument == proposed.argument && one.value == proposed.value;
    });
    if (!known && (conditions == Conditions::all || rank(proposed.effect) > rank(effect))) {
      out.push_back({proposed.argument, proposed.value, std::string(proposed.effect)});
    }
  }
  return out;
}

std::string Review::whole_of(const catalog::ItemChange& change) const {
  if (change.item == "tool") {
    const PinnedTool* live = candidate_.find(change.name);
    return live == nullptr ? std::string() : live->definition;
  }
  if (const auto list = catalog::list_kind_of_item(change.item)) {
    const catalog::PinnedItem* live = candidate_.find(*list, change.name);
    return live == nullptr ? std::string() : live->definition;
  }
  if (change.item == "interface") {
    const PinnedTool* live = candidate_.find(change.name);
    return live == nullptr ? std::string() : catalog::interface_summary(live->interface, live->interface_facts);
  }
  if (change.item == "server_info") {
    return candidate_.server_info;
  }
  if (change.item == "capabilities") {
    return candidate_.capabilities;
  }
  return change.item == "launch" ? catalog::fingerprint_json(candidate_.launch) : std::string();
}

std::string Review::whole(std::size_t item) const {
  const catalog::ItemChange& change = items_.at(item).change;
  if (change.kind == catalog::ChangeKind::removed || change.item == "effect") {
    return change.places.empty() ? std::string() : change.places.front().before;
  }
  const std::string out = whole_of(change);
  return out.empty() && !change.places.empty() ? change.places.front().after : out;
}

void Review::add_unchanged_tools(ReviewScope scope) {
  for (const PinnedTool& tool : base_.tools) {
    const bool listed = std::ranges::any_of(items_, [&tool](const ReviewItem& item) {
      return item.change.item == "tool" && (item.change.name == tool.name || item.change.old_name == tool.name);
    });
    const bool unclassified = tool.effect_source == catalog::EffectSource::proposed;
    if (listed || (!unclassified && scope == ReviewScope::differences)) {
      continue;
    }
    ReviewItem item;
    item.change.item = "effect";
    item.change.name = tool.name;
    item.change.severity = catalog::Severity::info;
    item.change.places.push_back({.before = tool.definition, .after = tool.definition});
    item.proposal = catalog::propose_effect(tool.definition);
    item.kept = tool.when;
    item.effect = unclassified && tool.effect == kUnknown ? std::string(item.proposal.effect) : tool.effect;
    items_.push_back(std::move(item));
  }
}

bool Review::places_changed() const {
  return catalog::places_that_hold(base_, {&candidate_, &base_}) != base_.variables;
}

void Review::set_effect(std::size_t item, policy::Effect effect) {
  CORDON_ASSERT(items_.at(item).has_effect());
  items_[item].effect = policy::name(effect);
}

void Review::accept_all_unattended() {
  unattended_ = true;
  for (ReviewItem& item : items_) {
    if (item.decision != Decision::open || item.change.item == "effect") {
      continue;  // a class that nobody set stays so
    }
    item.decision = Decision::accepted;
    if (item.has_effect()) {
      item.effect = kUnknown;
    }
  }
}

void Review::apply_tool(const ReviewItem& item, Snapshot& out) const {
  const std::string& name = item.change.name;
  if (item.change.kind == catalog::ChangeKind::renamed) {
    const auto old_place = place_of(out, item.change.old_name);
    if (old_place != out.tools.end() && old_place->name == item.change.old_name) {
      out.tools.erase(old_place);
    }
  }
  const auto place = place_of(out, name);
  const bool present = place != out.tools.end() && place->name == name;
  if (item.change.item == "tool" && item.change.kind == catalog::ChangeKind::removed) {
    if (present) {
      out.tools.erase(place);
    }
    return;
  }
  const PinnedTool* live = candidate_.find(name);
  PinnedTool tool = live != nullptr && item.change.item == "tool" ? *live : present ? *place : PinnedTool{};
  CORDON_ASSERT(tool.name == name);
  // What an interface shows is an item of its own, with an answer of its own.
  if (item.change.item == "tool") {
    tool.interface = present ? place->interface : std::string();
    tool.interface_facts = present ? place->interface_facts : std::string();
  }
  tool.effect = item.effect;
  tool.when = unattended_ ? std::vector<catalog::EffectCondition>() : item.when();
  tool.effect_source = unattended_ ? catalog::EffectSource::proposed : catalog::EffectSource::reviewer;
  if (present) {
    *place = std::move(tool);
  } else {
    out.tools.insert(place, std::move(tool));
  }
}

void Review::apply_item(catalog::ListKind list, const std::string& key, Snapshot& out) const {
  std::vector<catalog::PinnedItem>& items = out.items(list);
  const auto place = std::ranges::lower_bound(items, key, {}, &catalog::PinnedItem::key);
  const bool present = place != items.end() && place->key == key;
  const catalog::PinnedItem* live = candidate_.find(list, key);
  if (live == nullptr) {
    if (present) {
      items.erase(place);
    }
  } else if (present) {
    *place = *live;
  } else {
    items.insert(place, *live);
  }
}

void Review::apply(const ReviewItem& item, Snapshot& out) const {
  const std::string& kind = item.change.item;
  if (kind == "tool" || kind == "effect") {
    apply_tool(item, out);
  } else if (const auto list = catalog::list_kind_of_item(kind)) {
    apply_item(*list, item.change.name, out);
  } else if (kind == "interface") {
    // The definition may have been rejected; its interface then stays with what was accepted.
    const auto place = place_of(out, item.change.name);
    const PinnedTool* live = candidate_.find(item.change.name);
    if (live != nullptr && place != out.tools.end() && place->name == item.change.name) {
      place->interface = live->interface;
      place->interface_facts = live->interface_facts;
    }
  } else if (kind == "instructions") {
    out.instructions = candidate_.instructions;
  } else if (kind == "server_info") {
    out.server_info = candidate_.server_info;
  } else if (kind == "capabilities") {
    out.capabilities = candidate_.capabilities;
  } else if (kind == "protocol_versions") {
    out.protocol_versions = candidate_.protocol_versions;
  } else {
    CORDON_ASSERT(kind == "launch");  // a diff has no other items
    out.launch = candidate_.launch;
  }
}

Snapshot Review::result(const Signature& signature) const {
  Snapshot out = base_;
  out.server = candidate_.server;
  // Tools come before the interfaces that hang on them.
  for (const bool interfaces : {false, true}) {
    for (const ReviewItem& item : items_) {
      if (item.decision == Decision::accepted && (item.change.item == "interface") == interfaces) {
        apply(item, out);
      }
    }
  }
  out.variables = catalog::places_that_hold(out, {&candidate_, &base_});
  out.reviewed = true;
  out.reviewer = signature.reviewer;
  out.reviewed_at = signature.time;
  out.unattended = signature.unattended;
  catalog::seal(out);
  return out;
}

std::string rfc3339(std::int64_t unix_seconds) {
  const std::time_t time = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> out{};
  const std::size_t length = std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {out.data(), length};
}

}  // namespace cordon::app
