// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole tool definition for a person: parameters as a list with type, need and text instead of nested JSON. Nothing
// of it is left out or cut, since what is not shown cannot be reviewed.

#include <string_view>

#include "formats/reports/paper.hpp"

namespace cordon::formats {

// `mark` (ours, ASCII) begins every line. False, and nothing is written, when `definition` is no JSON object.
bool write_definition(Paper& paper, std::string_view definition, std::string_view mark, Tone tone);

}  // namespace cordon::formats
