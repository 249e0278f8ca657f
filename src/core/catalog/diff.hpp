// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two whole catalogs, item by item. Reports (formats/reports) render the result.

#include <cstdint>
#include <string>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/catalog/compare.hpp"

namespace cordon::catalog {

enum class ChangeKind : std::uint8_t { added, removed, changed, cosmetic };
enum class Severity : std::uint8_t { info, low, medium, high };

// One place inside a definition that differs. `pointer` is a JSON pointer; a value is compact JSON, empty when absent.
struct Place {
  std::string pointer = {};
  std::string before = {};
  std::string after = {};
};

struct ItemChange {
  std::string item = {};  // "tool", "instructions", "server_info", "capabilities", "protocol_versions", "effect"
  std::string name = {};  // tool name, else empty
  ChangeKind kind = ChangeKind::changed;
  Severity severity = Severity::medium;
  std::vector<Place> places = {};  // for added and removed: one place with pointer ""
};

struct Diff {
  std::vector<ItemChange> changes = {};  // worst first, then by item and name
  bool drifted() const;                  // anything that is not cosmetic
};

// `before` and `after` in the form of snapshots; a live catalog is turned into one by as_candidate().
Diff diff(const Snapshot& before, const Snapshot& after);

// A candidate: every tool with effect "unknown" from EffectSource::proposed; effects of tools that `reviewed` pins with
// an equal definition are carried over. Tools are sorted by name; a duplicate name is catalog_invalid.
Result<Snapshot> as_candidate(std::string server, const Catalog& live, const Snapshot* reviewed);

}  // namespace cordon::catalog
