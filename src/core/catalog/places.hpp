// SPDX-License-Identifier: Apache-2.0
#pragma once
// The places in which two JSON texts differ, each with its severity (docs/formats/diff.md).

#include <string_view>

#include "core/catalog/diff.hpp"

namespace cordon::catalog {

struct Places {
  std::vector<Place> list = {};  // worst first, else in document order; at most kMaxPlaces
  std::size_t omitted = 0;
  Severity worst = Severity::info;
};

// Of two tool definitions in their comparison form.
Places tool_places(std::string_view before, std::string_view after);

// Of any two canonical JSON texts; a member of the outermost object takes the severity that `of_member` gives for its
// key, a text that is no object that of the empty key.
Places data_places(std::string_view before, std::string_view after, Severity (*of_member)(std::string_view key));

}  // namespace cordon::catalog
