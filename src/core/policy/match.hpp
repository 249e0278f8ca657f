// SPDX-License-Identifier: Apache-2.0
#pragma once
// How globs of tool names relate to each other; glob_match itself is declared in evaluate.hpp.

#include <string_view>

namespace cordon::policy {

// True only if every name that `special` matches is matched by `general` too. Conservative: false when it cannot tell
// (*? and ?* mean the same, yet neither is found to cover the other).
bool glob_covers(std::string_view general, std::string_view special);

}  // namespace cordon::policy
