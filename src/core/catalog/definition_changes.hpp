// SPDX-License-Identifier: Apache-2.0
#pragma once
// What changed between two definitions of one tool (or of another named item), in the words of change.hpp.

#include <string_view>

#include "core/catalog/cues.hpp"
#include "core/catalog/places.hpp"

namespace cordon::catalog {

// Of two tool definitions in their comparison form. Empty exactly when these are equal.
Places definition_changes(std::string_view before, std::string_view after, const CueNames& names);

// One whole definition that came or went (the other text is empty). Severity and cues of everything in it.
Places whole_change(std::string_view before, std::string_view after, What what, const CueNames& names);

// Of any two canonical JSON texts; a member of the outermost object gives the word that `of_member` has for its key,
// a text that is no object that of the empty key.
Places data_changes(std::string_view before, std::string_view after, What (*of_member)(std::string_view key),
                    const CueNames& names);

}  // namespace cordon::catalog
