// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many tools that changed in the same way are read once. Reports show groups; every tool is still named.

#include <vector>

#include "core/catalog/diff.hpp"

namespace cordon::catalog {

// Items that share all of `places`. An item may be in several groups: one for what it shares with others, one for what
// it has alone.
struct Group {
  std::vector<const ItemChange*> items = {};  // all of one item word and kind
  std::vector<const Place*> places = {};
  std::size_t omitted_places = 0;
  Severity severity = Severity::info;  // of these places
};

// A place that at least so many items share is told once for all of them.
inline constexpr std::size_t kShared = 3;

// Worst first. Removed items are one group per severity, with their names only. Points into `diff`.
std::vector<Group> groups_of(const Diff& diff);

// Sets ItemChange::group.
void number_groups(Diff& diff);

}  // namespace cordon::catalog
