// SPDX-License-Identifier: Apache-2.0
#pragma once
// Setting one place of a JSON object (RFC 6901). Pure.

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::app {

// `object` (JSON) with `value` (JSON) at `pointer`; members that are missing on the way are made as objects, a position
// of an array is replaced, or appended to it. policy_invalid for what is no object, no pointer, or leads through a
// scalar.
Result<std::string> with_value_at(const std::string& object, std::string_view pointer, std::string_view value);

}  // namespace cordon::app
