// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/item_diff.hpp"

#include <algorithm>
#include <utility>

#include "core/catalog/definition_changes.hpp"
#include "core/catalog/interface.hpp"
#include "core/json/read.hpp"

namespace cordon::catalog {

namespace {

// Descriptions and arguments are what a model reads and fills in; the rest is for people.
What what_of(std::string_view key) {
  return key == "description"                 ? What::description_changed
         : key == "title"                     ? What::title_changed
         : key == "icons"                     ? What::icons_changed
         : key == "arguments"                 ? What::prompt_arguments_changed
         : key == "size" || key == "mimeType" ? What::resource_facts_changed
         : key == "name"                      ? What::name_changed
         : key == "_meta"                     ? What::meta_changed
                                              : What::member_changed;
}

std::vector<const PinnedItem*> by_key(const std::vector<PinnedItem>& items) {
  std::vector<const PinnedItem*> list;
  list.reserve(items.size());
  for (const PinnedItem& item : items) {
    list.push_back(&item);
  }
  std::ranges::sort(list, {}, &PinnedItem::key);
  return list;
}

ItemChange item_of(ListKind kind, const std::string& key, ChangeKind change, Places places) {
  return {.item = std::string(names(kind).item),
          .name = key,
          .kind = change,
          .severity = places.worst,
          .places = std::move(places.list),
          .omitted_places = places.omitted};
}

void compare_lists(ListKind kind, const Snapshot& before_all, const Snapshot& after_all, const CueNames& cue_names,
                   std::vector<ItemChange>& changes) {
  const std::vector<const PinnedItem*> before = by_key(before_all.items(kind));
  const std::vector<const PinnedItem*> after = by_key(after_all.items(kind));
  auto b = before.begin();
  auto a = after.begin();
  while (b != before.end() || a != after.end()) {
    if (a == after.end() || (b != before.end() && (*b)->key < (*a)->key)) {
      changes.push_back(item_of(kind, (*b)->key, ChangeKind::removed,
                                whole_change((*b)->definition, "", What::item_removed, cue_names)));
      ++b;
    } else if (b == before.end() || (*a)->key < (*b)->key) {
      changes.push_back(
          item_of(kind, (*a)->key, ChangeKind::added, whole_change("", (*a)->definition, What::item_added, cue_names)));
      ++a;
    } else {
      if ((*b)->definition != (*a)->definition) {
        changes.push_back(item_of(kind, (*b)->key, ChangeKind::changed,
                                  data_changes((*b)->definition, (*a)->definition, what_of, cue_names)));
      }
      ++b;
      ++a;
    }
  }
}

What interface_what(std::string_view) { return What::interface_changed; }

bool warns(const std::string& summary) {
  const Result<json::Document> document = json::read(summary, {.max_bytes = summary.size()});
  return document && document->root().find("cues").elements().begin() != document->root().find("cues").elements().end();
}

// Content that a client shows and runs, also of a tool that is new. Of one that went, its own change says it all.
void compare_interfaces(const Snapshot& before, const Snapshot& after, const CueNames& names,
                        std::vector<ItemChange>& changes) {
  for (const PinnedTool& live : after.tools) {
    const PinnedTool* old = before.find(live.name);
    const std::string was = old == nullptr ? "" : interface_summary(old->interface, old->interface_facts);
    const std::string is = interface_summary(live.interface, live.interface_facts);
    if ((old == nullptr ? "" : old->interface) == live.interface) {
      continue;
    }
    const ChangeKind kind = was.empty() ? ChangeKind::added : is.empty() ? ChangeKind::removed : ChangeKind::changed;
    Places places = kind == ChangeKind::added     ? whole_change("", is, What::interface_added, names)
                    : kind == ChangeKind::removed ? whole_change(was, "", What::interface_removed, names)
                                                  : data_changes(was, is, interface_what, names);
    if (kind == ChangeKind::added && warns(is)) {
      places.worst = std::max(places.worst, Severity::high);
      places.list.front().severity = places.worst;
    }
    changes.push_back({.item = "interface",
                       .name = live.name,
                       .kind = kind,
                       .severity = places.worst,
                       .places = std::move(places.list),
                       .omitted_places = places.omitted});
  }
}

}  // namespace

std::vector<ItemChange> item_changes(const Snapshot& before, const Snapshot& after, const CueNames& names) {
  std::vector<ItemChange> changes;
  for (const ListKind kind : kItemKinds) {
    compare_lists(kind, before, after, names, changes);
  }
  compare_interfaces(before, after, names, changes);
  return changes;
}

}  // namespace cordon::catalog
