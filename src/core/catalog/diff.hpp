// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two whole catalogs, item by item. Reports (formats/reports) render the result.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/catalog/change.hpp"
#include "core/catalog/compare.hpp"

namespace cordon::catalog {

struct ItemChange {
  // "tool", "effect", "instructions", "server_info", "capabilities", "protocol_versions", "launch"; of item_diff.hpp
  // also "prompt", "resource", "resource_template" and "interface"
  std::string item = {};
  std::string name = {};      // tool name, else empty
  std::string old_name = {};  // of a renamed tool
  ChangeKind kind = ChangeKind::changed;
  Severity severity = Severity::medium;
  // Worst first, at most kMaxPlaces; for added and removed: one place, pointer "".
  std::vector<Place> places = {};
  std::size_t omitted_places = 0;  // how many more there are; severity counts them too
  // Equal, and not 0, for items that changed in exactly the same way, whatever their names.
  std::size_t group = 0;
};

inline constexpr std::size_t kMaxPlaces = 64;

struct Diff {
  std::vector<ItemChange> changes = {};  // worst first, then by item and name
  bool drifted() const;                  // anything that is not cosmetic
};

// Linear in the size of both, save for sorting. docs/formats/diff.md has the table of severities.
// `before` and `after` in the form of snapshots; a live catalog is turned into one by as_candidate().
Diff diff(const Snapshot& before, const Snapshot& after);

// A candidate: every tool with effect "unknown" from EffectSource::proposed; effects of tools that `reviewed` pins with
// an equal or cosmetically equal definition are carried over. Tools are sorted by name; a duplicate name is
// catalog_invalid. Reviewer, time and launch stay empty.
Result<Snapshot> as_candidate(std::string server, const Catalog& live, const Snapshot* reviewed);

}  // namespace cordon::catalog
