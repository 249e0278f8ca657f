// SPDX-License-Identifier: Apache-2.0
#include "core/gate/item_view.hpp"

#include <set>
#include <utility>

#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {
namespace {

using catalog::ListKind;
using json::Kind;
using json::Member;
using json::Value;
using policy::DriftAction;

constexpr std::string_view kNoDefinition = "it cannot be read, or stands in the list twice";

// type/subtype, with parameters behind it. What has blanks elsewhere could be sentences for a model to read.
bool is_media_type(std::string_view text) {
  constexpr std::string_view kToken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&^_.+-";
  const auto joins_two = [&](std::string_view pair, char by) {
    const std::size_t at = pair.find(by);
    return at != std::string_view::npos && at != 0 && at + 1 != pair.size() && pair.find_first_not_of(kToken) == at &&
           pair.find_first_not_of(kToken, at + 1) == std::string_view::npos;
  };
  char by = '/';
  for (std::string_view part : text::split(text, ';')) {
    if (by == '=' && part.starts_with(' ')) {
      part.remove_prefix(1);
    }
    if (!joins_two(part, by)) {
      return false;
    }
    by = '=';
  }
  return text.size() <= 100;
}

// Without members of ours, and with `mark` under dev.mcp-cordon/drift when it is not empty.
std::string served_item(std::string_view definition, std::string_view mark) {
  const json::Document document = parse_own(definition);
  json::Writer w;
  w.begin_object();
  for (const Member member : document.root().members()) {
    if (!member.key.string_equals("_meta")) {
      w.key(member.key.string()).value(member.value);
    }
  }
  json::Writer meta;
  bool any = false;
  meta.begin_object();
  for (const Member member : document.root().find("_meta").members()) {
    const std::string key = member.key.string();
    if (!key.starts_with(wire::kOwnMetaPrefix)) {
      meta.key(key).value(member.value);
      any = true;
    }
  }
  if (!mark.empty()) {
    meta.member("dev.mcp-cordon/drift", mark);
    any = true;
  }
  meta.end_object();
  if (any) {
    w.member_raw("_meta", meta.take());
  }
  w.end_object();
  return w.take();
}

}  // namespace

std::string data_definition(std::string_view definition, std::string_view uri) {
  const json::Document document = parse_own(definition);
  std::string_view name = uri;
  if (const std::size_t slash = name.find_last_of('/'); slash != std::string_view::npos && slash + 1 < name.size()) {
    name.remove_prefix(slash + 1);
  }
  json::Writer w;
  w.begin_object().member("name", name).member("uri", uri);
  if (const Value type = document.root().find("mimeType"); type.is(Kind::string)) {
    if (const std::string text = type.string(); is_media_type(text)) {
      w.member("mimeType", text);
    }
  }
  if (const Value size = document.root().find("size"); size.safe_integer() && *size.safe_integer() >= 0) {
    w.member_int("size", *size.safe_integer());
  }
  w.end_object();
  return w.take();
}

const ItemView* ItemListView::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &items_[found->second];
}

void ItemListView::note(std::string_view key, std::string_view change, DriftAction action, bool bad,
                        std::string_view definition) {
  drift_.push_back({std::string(catalog::names(kind_).item), std::string(key), std::string(change), action,
                    std::string(bad ? kNoDefinition : ""),
                    definition.empty() ? std::string() : catalog::item_digest(definition)});
}

void ItemListView::add(ItemView view, std::string_view definition, std::string_view mark) {
  switch (kind_) {
    case ListKind::prompts:
      view.verdict = policy::evaluate_prompt(*policy_);
      break;
    case ListKind::templates:
      view.verdict = policy::evaluate_templates(*policy_);
      break;
    case ListKind::resources:
    case ListKind::tools:
      view.verdict = policy::evaluate_resource(*policy_, view.key, policy::ResourceOrigin::listed);
      break;
  }
  const bool hidden = view.refusal == Errc::tool_not_reviewed || view.verdict.action == policy::Action::hide;
  if (!hidden && !definition.empty()) {
    view.served = view.dynamic ? data_definition(definition, view.key) : served_item(definition, mark);
  }
  if (index_.emplace(view.key, items_.size()).second) {
    items_.push_back(std::move(view));
  }
}

void ItemListView::add_live(const LiveItem& live, bool bad) {
  const policy::Drift& rules = policy_->catalog.drift;
  ItemView view;
  view.key = live.name;
  if (kind_ == ListKind::resources && !bad && policy::is_dynamic(policy_->catalog, live.name)) {
    view.dynamic = true;
    add(std::move(view), live.definition, "");
    return;
  }
  const catalog::PinnedItem* pinned = snapshot_ == nullptr ? nullptr : snapshot_->find(kind_, live.name);
  if (pinned == nullptr) {
    view.pin = PinState::unreviewed;
    view.flagged = !bad && (snapshot_ == nullptr || rules.added == DriftAction::flag);
    if (!view.flagged) {
      view.refusal = Errc::tool_not_reviewed;
    }
    note(live.name, "added", view.flagged ? DriftAction::flag : DriftAction::hide, bad, live.definition);
    add(std::move(view), live.definition, "unreviewed");
    return;
  }
  if (!bad && pinned->definition == live.definition) {
    add(std::move(view), pinned->definition, "");
    return;
  }
  view.pin = PinState::changed;
  const DriftAction wanted = rules.changed_schema.value_or(rules.changed);
  const DriftAction action = bad && wanted == DriftAction::flag ? DriftAction::block : wanted;
  note(live.name, "changed", action, bad, live.definition);
  if (action == DriftAction::flag || action == DriftAction::allow) {
    view.flagged = true;
    add(std::move(view), live.definition, "changed");
    return;
  }
  if (action != DriftAction::pinned || bad) {
    view.refusal = action == DriftAction::hide ? Errc::tool_not_reviewed : Errc::tool_changed;
  }
  add(std::move(view), pinned->definition, "");
}

ItemListView ItemListView::judge(ListKind kind, const policy::Policy& policy, const catalog::Snapshot* snapshot,
                                 const LiveList& live) {
  ItemListView view(kind, policy, snapshot);
  std::set<std::string_view> seen;
  std::set<std::string_view> bad(live.rejected.begin(), live.rejected.end());
  for (const LiveItem& item : live.items) {
    if (!seen.insert(item.name).second) {
      bad.insert(item.name);
    }
  }
  for (const LiveItem& item : live.items) {
    if (view.find(item.name) == nullptr) {
      view.add_live(item, bad.contains(item.name));
    }
  }
  for (const std::string& key : live.rejected) {
    if (view.find(key) == nullptr) {
      // What cannot be read is never equal to a pin and never shown.
      view.add_live({key, "{}"}, true);
    }
  }
  if (snapshot != nullptr) {
    for (const catalog::PinnedItem& pinned : snapshot->items(kind)) {
      if (view.find(pinned.key) == nullptr) {
        view.note(pinned.key, "removed", policy.catalog.drift.removed, false, "");
      }
    }
  }
  return view;
}

}  // namespace cordon::gate
