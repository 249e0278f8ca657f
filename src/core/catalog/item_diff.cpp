// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/item_diff.hpp"

#include <algorithm>
#include <utility>

#include "core/catalog/places.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

namespace {

// Descriptions and arguments are what a model reads and fills in; the rest is for people.
Severity member_severity(std::string_view key) {
  return key == "title" || key == "icons" || key == "size" || key == "mimeType" ? Severity::low : Severity::medium;
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

ItemChange one_sided(ListKind kind, const PinnedItem& item, ChangeKind change) {
  const bool added = change == ChangeKind::added;
  Place place = {.severity = added ? Severity::medium : Severity::low};
  (added ? place.after : place.before) = item.definition;
  ItemChange out = {
      .item = std::string(names(kind).item), .name = item.key, .kind = change, .severity = place.severity};
  out.places.push_back(std::move(place));
  return out;
}

void compare_lists(ListKind kind, const Snapshot& before_all, const Snapshot& after_all,
                   std::vector<ItemChange>& changes) {
  const std::vector<const PinnedItem*> before = by_key(before_all.items(kind));
  const std::vector<const PinnedItem*> after = by_key(after_all.items(kind));
  auto b = before.begin();
  auto a = after.begin();
  while (b != before.end() || a != after.end()) {
    if (a == after.end() || (b != before.end() && (*b)->key < (*a)->key)) {
      changes.push_back(one_sided(kind, **b++, ChangeKind::removed));
    } else if (b == before.end() || (*a)->key < (*b)->key) {
      changes.push_back(one_sided(kind, **a++, ChangeKind::added));
    } else {
      if ((*b)->definition != (*a)->definition) {
        Places places = data_places((*b)->definition, (*a)->definition, member_severity);
        changes.push_back({.item = std::string(names(kind).item),
                           .name = (*b)->key,
                           .severity = places.worst,
                           .places = std::move(places.list),
                           .omitted_places = places.omitted});
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
    changes.push_back({.item = "interface",
                       .name = old.name,
                       .kind = old.interface.empty()     ? ChangeKind::added
                               : live->interface.empty() ? ChangeKind::removed
                                                         : ChangeKind::changed,
                       .severity = live->interface.empty() ? Severity::low : Severity::high,
                       .places = {{.before = quoted(old.interface), .after = quoted(live->interface)}}});
  }
}

}  // namespace

std::vector<ItemChange> item_changes(const Snapshot& before, const Snapshot& after) {
  std::vector<ItemChange> changes;
  for (const ListKind kind : kItemKinds) {
    compare_lists(kind, before, after, changes);
  }
  compare_interfaces(before, after, changes);
  return changes;
}

}  // namespace cordon::catalog
