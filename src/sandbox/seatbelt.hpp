// SPDX-License-Identifier: Apache-2.0
#pragma once
// The profile for macOS's Seatbelt, as text. Untested: there has been no such machine.

#include <span>
#include <string>

#include "base/error.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox {

// Nothing is allowed but reading, executing and writing what the entries say, child processes, and what every program
// needs of the system. No network. policy_invalid for a path that holds a control character.
Result<std::string> seatbelt_profile(std::span<const ViewEntry> view);

}  // namespace cordon::sandbox
