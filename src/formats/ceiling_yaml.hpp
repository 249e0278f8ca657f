// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ceiling file as text → policy::Ceiling, read with the machinery of policies and by the table of
// core/policy/ceiling.hpp. The format is docs/formats/ceiling.md.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/policy/ceiling.hpp"

namespace cordon::formats {

// The ceiling, or the first fault in the order of the file: policy_invalid with `where` = "file:line:column". Nothing
// of a ceiling that has a fault is used. `file` is kept for messages; it is not opened.
Result<policy::Ceiling> read_ceiling(std::string_view text, std::string file);

// All faults in the order of the file; empty exactly when read_ceiling succeeds.
std::vector<Error> check_ceiling(std::string_view text, std::string file);

// Where everything stands in the text of a policy that read_policy accepted.
policy::Places policy_places(std::string_view text, std::string_view file);

}  // namespace cordon::formats
