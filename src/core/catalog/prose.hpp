// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of a tool definition is prose: descriptions, titles and examples, which no program reads.

#include <string_view>

namespace cordon::catalog {

// True when two definitions, canonical JSON, are the same but for prose; what relate() calls cosmetic counts as the
// same.
bool differs_in_prose_only(std::string_view pinned_definition, std::string_view live_definition);

}  // namespace cordon::catalog
