// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a write grant hands over besides data: places where other programs look for what they run. This version does not
// cover them; it says so.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// One line for each write grant that holds, directly in it, hooks or settings of version control, editors, agents or
// shells, or that lies above the home folder.
std::vector<std::string> exposure_notices(const policy::Policy& policy, const Caller& caller);

}  // namespace cordon::app
