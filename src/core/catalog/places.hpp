// SPDX-License-Identifier: Apache-2.0
#pragma once
// The places in which two JSON texts of no known shape differ (docs/formats/diff.md).

#include <string_view>

#include "core/catalog/diff.hpp"

namespace cordon::catalog {

struct Places {
  std::vector<Place> list = {};  // worst first where they have a severity, else in document order; at most kMaxPlaces
  std::size_t omitted = 0;
  Severity worst = Severity::info;
};

// Of two canonical JSON texts: the smallest values that differ, the first kMaxPlaces of them, none with a severity.
Places data_places(std::string_view before, std::string_view after);

}  // namespace cordon::catalog
