// SPDX-License-Identifier: Apache-2.0
#pragma once
// check: all faults of a policy or snapshot file, and what stands in the way of a launch.

#include <cstdint>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/ceilings.hpp"
#include "app/check_launch.hpp"
#include "base/error.hpp"

namespace cordon::app {

// How far a policy is looked at. `text`: the file alone, wherever it is written and long before it lies where `run`
// would trust it. `launch`: also what it names on this machine.
enum class CheckDepth : std::uint8_t { text, launch };

// What a word after `check` means: a file; where there is none of that name, and it looks like none (no slash, no
// ending), the policy of that name, as for the other commands.
Result<std::string> file_to_check(const Caller& caller, const std::string& word);

// What is wrong with a file, in its order; empty when nothing is. A file whose text begins with a brace and whose name
// does not end in .yaml or .yml is read as a snapshot, and looked at by itself. A policy without a fault is compared
// with `ceilings`, and then looked at as `depth` says.
std::vector<CheckFinding> check_file(const Caller& caller, const std::string& path,
                                     const std::vector<LoadedCeiling>& ceilings = {},
                                     CheckDepth depth = CheckDepth::text);

// check --deep: reads every file of the package that a policy's launch.source has installed, and compares with the
// record beside the snapshot. Fine for a policy without a source, and for what is no policy.
Status check_package(const Caller& caller, const std::string& path);

}  // namespace cordon::app
