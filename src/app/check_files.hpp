// SPDX-License-Identifier: Apache-2.0
#pragma once
// check: all faults of a policy or snapshot file.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/ceilings.hpp"
#include "base/error.hpp"

namespace cordon::app {

// In the order of the file; empty when there is none. A file whose text begins with a brace and whose name does not end
// in .yaml or .yml is read as a snapshot. Nothing else is looked at: a file can be checked where it is written, long
// before it lies where `run` would trust it.
// A policy without a fault is compared with `ceilings`.
std::vector<Error> check_file(const Caller& caller, const std::string& path,
                              const std::vector<LoadedCeiling>& ceilings = {});

// check --deep: reads every file of the package that a policy's launch.source has installed, and compares with the
// record beside the snapshot. Fine for a policy without a source, and for what is no policy.
Status check_package(const Caller& caller, const std::string& path);

}  // namespace cordon::app
