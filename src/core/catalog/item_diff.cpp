// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/item_diff.hpp"

#include <algorithm>
#include <utility>

#include "core/catalog/definition_changes.hpp"
#include "core/json/write.hpp"

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

// Content that a client shows and runs. Of a tool on one side only, the change of the tool says it all.
void compare_interfaces(const Snapshot& before, const Snapshot& after, std::vector<ItemChange>& changes) {
  const std::vector<PinnedTool>& tools = before.tools;
  for (const PinnedTool& old : tools) {
    const PinnedTool* live = after.find(old.name);
    if (live == nullptr || live->interface == old.interface) {
      continue;
    }
    const auto quoted = [](const std::string& digest) { return digest.empty() ? "" : json::quoted(digest); };
    const What what = live->interface.empty() ? What::interface_removed : What::interface_changed;
    changes.push_back({.item = "interface",
                       .name = old.name,
                       .kind = old.interface.empty()     ? ChangeKind::added
                               : live->interface.empty() ? ChangeKind::removed
                                                         : ChangeKind::changed,
                       .severity = facts(what).severity,
                       .places = {{.before = quoted(old.interface),
                                   .after = quoted(live->interface),
                                   .severity = facts(what).severity,
                                   .what = what}}});
  }
}

}  // namespace

std::vector<ItemChange> item_changes(const Snapshot& before, const Snapshot& after, const CueNames& names) {
  std::vector<ItemChange> changes;
  for (const ListKind kind : kItemKinds) {
    compare_lists(kind, before, after, names, changes);
  }
  compare_interfaces(before, after, changes);
  return changes;
}

}  // namespace cordon::catalog
