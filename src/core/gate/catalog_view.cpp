// SPDX-License-Identifier: Apache-2.0
#include "core/gate/catalog_view.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/catalog/compare.hpp"
#include "core/catalog/interface.hpp"
#include "core/catalog/prose.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"
#include "core/policy/call_effect.hpp"
#include "core/policy/evaluate.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Member;
using json::Value;
using policy::DriftAction;
using policy::Effect;

constexpr std::string_view kNoDefinition = "it cannot be read, or its name is in the list twice";

// What the policy says of a definition that is not the reviewed one. One that cannot be told is never passed.
DriftAction changed_action(const policy::Drift& rules, const catalog::PinnedTool& pinned, const catalog::Tool& live,
                           bool twice) {
  DriftAction action = rules.changed;
  if (rules.changed_schema && (twice || !catalog::differs_in_prose_only(pinned.definition, live.definition))) {
    action = *rules.changed_schema;
  }
  return twice && action != DriftAction::hide ? DriftAction::block : action;
}

struct Hints {
  bool read_only = false;
  bool destructive = true;
  bool open_world = true;
};

Hints hints_of(Effect effect, bool reviewed_read) {
  switch (effect) {
    case Effect::read:
      return reviewed_read ? Hints{true, false, false} : Hints{false, true, true};
    case Effect::write:
      return {false, false, false};
    case Effect::send:
      return {false, false, true};
    case Effect::destructive:
    case Effect::execute:
    case Effect::unknown:
      return {false, true, true};
  }
  CORDON_ASSERT(false);
}

std::string annotations(const Value& given, const Hints& hints) {
  json::Writer w;
  w.begin_object();
  for (const Member member : given.members()) {
    const std::string key = member.key.string();
    if (key != "readOnlyHint" && key != "destructiveHint" && key != "openWorldHint") {
      w.key(key).value(member.value);
    }
  }
  w.member_bool("readOnlyHint", hints.read_only);
  w.member_bool("destructiveHint", hints.destructive);
  w.member_bool("openWorldHint", hints.open_world).end_object();
  return w.take();
}

// `_meta`, without an interface whose content is not pinned. Empty when nothing is left.
std::string served_meta(const Value& meta, std::string_view mark, Interface interface) {
  json::Writer w;
  bool any = false;
  w.begin_object();
  for (const Member member : meta.members()) {
    const std::string key = member.key.string();
    const bool names_interface = key == "ui" || key.starts_with("ui/");
    if ((!names_interface || interface == Interface::pinned) && !key.starts_with("dev.mcp-cordon/")) {
      w.key(key).value(member.value);
      any = true;
    }
  }
  if (!mark.empty()) {
    w.member("dev.mcp-cordon/drift", mark);
    any = true;
  }
  w.end_object();
  return any ? w.take() : std::string();
}

}  // namespace

std::string served_definition(std::string_view definition, Effect effect, bool reviewed_read, std::string_view mark,
                              Interface interface, policy::Annotations hints) {
  const json::Document document = parse_own(definition);
  const Value tool = document.root();
  json::Writer w;
  w.begin_object();
  for (const Member member : tool.members()) {
    const std::string key = member.key.string();
    if (key != "annotations" && key != "_meta") {
      w.key(key).value(member.value);
    }
  }
  const Value given = tool.find("annotations");
  if (hints == policy::Annotations::reviewed) {
    w.member_raw("annotations", annotations(given, hints_of(effect, reviewed_read)));
  } else if (given) {
    w.key("annotations").value(given);
  }
  if (const std::string meta = served_meta(tool.find("_meta"), mark, interface); !meta.empty()) {
    w.member_raw("_meta", meta);
  }
  w.end_object();
  return w.take();
}

const ToolView* CatalogView::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tools_[found->second];
}

const ToolView* CatalogView::interface_owner(std::string_view uri) const {
  for (const ToolView& tool : tools_) {
    if (!tool.served.empty() && !tool.interface.empty() && tool.interface == uri) {
      return &tool;
    }
  }
  return nullptr;
}

void CatalogView::add(ToolView view, const policy::Policy& policy, std::string_view definition, std::string_view mark) {
  std::vector<Effect> possible = {view.effect};
  for (const catalog::EffectCondition& condition : view.when) {
    possible.push_back(policy::effect_from_name(condition.effect).value_or(Effect::unknown));
  }
  view.verdict = policy::listing_verdict(policy.tools, view.name, possible);
  const bool hidden = view.refusal == Errc::tool_not_reviewed || view.verdict.action == policy::Action::hide;
  if (!hidden && !definition.empty()) {
    const bool read = view.effect == Effect::read && view.effect_by_person && view.when.empty();
    view.served = served_definition(definition, policy::worst_effect(view.effect, view.when), read, mark,
                                    view.interface.empty() ? Interface::removed : Interface::pinned,
                                    // What nobody has reviewed gets the hints of its class in any case.
                                    mark.empty() ? policy.tools.annotations : policy::Annotations::reviewed);
  }
  const auto [place, fresh] = index_.emplace(view.name, tools_.size());
  if (fresh) {
    tools_.push_back(std::move(view));
  }
}

void CatalogView::add_live(const policy::Policy& policy, const catalog::Snapshot* snapshot, const catalog::Tool& live,
                           bool twice) {
  const policy::Drift& rules = policy.catalog.drift;
  const catalog::PinnedTool* pinned = snapshot == nullptr ? nullptr : snapshot->find(live.name);
  ToolView view;
  view.name = live.name;
  if (pinned == nullptr) {
    view.pin = PinState::unreviewed;
    const bool flagged = !twice && (snapshot == nullptr || rules.added == DriftAction::flag);
    view.flagged = flagged;
    if (!flagged) {
      view.refusal = Errc::tool_not_reviewed;
    }
    drift_.push_back({"tool", live.name, "added", flagged ? DriftAction::flag : DriftAction::hide,
                      std::string(twice ? kNoDefinition : ""), catalog::tool_digest(live.definition)});
    add(std::move(view), policy, live.definition, "unreviewed");
    return;
  }
  const auto effect = policy::effect_from_name(pinned->effect).value_or(Effect::unknown);
  const bool by_person = pinned->effect_source == catalog::EffectSource::reviewer;
  // A proposal that nobody confirmed counts as unknown where it is `read`.
  view.effect = effect == Effect::read && !by_person ? Effect::unknown : effect;
  view.effect_by_person = by_person;
  view.when = pinned->when;
  const catalog::Relation relation =
      twice ? catalog::Relation::changed : catalog::relate(pinned->definition, live.definition);
  if (relation != catalog::Relation::changed && !pinned->interface.empty()) {
    if (auto address = catalog::interface_of(parse_own(pinned->definition).root())) {
      view.interface = std::move(*address);
      view.interface_digest = pinned->interface;
    }
  }
  if (relation == catalog::Relation::equal) {
    add(std::move(view), policy, pinned->definition, "");
    return;
  }
  if (relation == catalog::Relation::cosmetic && rules.cosmetic != DriftAction::block) {
    drift_.push_back({"tool", live.name, "cosmetic", rules.cosmetic, "", catalog::tool_digest(live.definition)});
    add(std::move(view), policy, pinned->definition, "");
    return;
  }
  view.pin = PinState::changed;
  view.interface.clear();
  const DriftAction action = changed_action(rules, *pinned, live, twice);
  drift_.push_back({"tool", live.name, "changed", action, std::string(twice ? kNoDefinition : ""),
                    catalog::tool_digest(live.definition)});
  if (action == DriftAction::flag || action == DriftAction::allow) {
    view.flagged = true;
    view.effect = Effect::unknown;
    view.effect_by_person = false;
    view.when.clear();
    add(std::move(view), policy, live.definition, "changed");
    return;
  }
  if (action == DriftAction::pinned) {
    view.served_as_pinned = true;
    add(std::move(view), policy, pinned->definition, "");
    return;
  }
  view.refusal = action == DriftAction::hide ? Errc::tool_not_reviewed : Errc::tool_changed;
  add(std::move(view), policy, pinned->definition, "");
}

CatalogView CatalogView::judge(const policy::Policy& policy, const catalog::Snapshot* snapshot, const LiveList& live) {
  CatalogView view;
  std::set<std::string_view> seen;
  std::set<std::string_view> twice;
  for (const catalog::Tool& tool : live.items) {
    if (!seen.insert(tool.name).second) {
      twice.insert(tool.name);
    }
  }
  const std::set<std::string_view> rejected(live.rejected.begin(), live.rejected.end());
  seen.insert(rejected.begin(), rejected.end());
  for (const catalog::Tool& tool : live.items) {
    const bool bad = twice.contains(tool.name) || rejected.contains(tool.name);
    if (view.find(tool.name) == nullptr) {
      view.add_live(policy, snapshot, tool, bad);
    }
  }
  for (const std::string& name : live.rejected) {
    if (view.find(name) == nullptr) {
      // A definition that cannot be read is never equal to a pin and never shown.
      view.add_live(policy, snapshot, {name, "{}"}, true);
    }
  }
  if (snapshot != nullptr) {
    for (const catalog::PinnedTool& pinned : snapshot->tools) {
      if (!seen.contains(pinned.name)) {
        view.drift_.push_back({"tool", pinned.name, "removed", policy.catalog.drift.removed, "", ""});
      }
    }
  }
  return view;
}

}  // namespace cordon::gate
