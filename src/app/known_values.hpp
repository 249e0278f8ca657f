// SPDX-License-Identifier: Apache-2.0
#pragma once
// What catalog.variables of a policy are known to be in one launch, as the server sees it.

#include <map>
#include <string>
#include <vector>

#include "app/launch_plan.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// Name of a variable of kind cwd, home, roots or argument → value. One that the launch does not have is left out. The
// first variable of kind roots is the first grant in the order of their places inside, the second the second, and so
// on.
std::map<std::string, std::string> known_values(const policy::Policy& policy, const PreparedLaunch& launch);

// Folders that the policy grants, at the paths where the server sees them: what client_requests.roots: policy answers.
std::vector<std::string> granted_folders(const PreparedLaunch& launch);

}  // namespace cordon::app
