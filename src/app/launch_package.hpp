// SPDX-License-Identifier: Apache-2.0
#pragma once
// What launch.source adds to a launch: program, interpreter and files of the installed package, or the image.

#include <string>
#include <vector>

#include "app/launch_plan.hpp"
#include "app/package_launch.hpp"
#include "app/store_check.hpp"
#include "base/error.hpp"

namespace cordon::app {

// The look at the installed files, which goes on while the rest is prepared, and what was taken from them meanwhile.
struct PackageStart {
  StoreCheck check = {};
  PackageProgram program = {};
};

// Sets argv, executable, mounts and image of the spec, and what binds the launch to the package, and begins the look at
// its files: `wait_for_package` ends it. launch_failed when it is not installed, policy_invalid when the backend does
// not fit.
Status add_package(const LaunchRequest& request, const std::vector<std::string>& command, PreparedLaunch& out,
                   PackageStart& start);

// The verdict on the files, which comes before any other error, since a tree that changed explains the rest. Fine at
// once where there is no package. launch_changed, and what look_at_store gives.
Status wait_for_package(const LaunchRequest& request, const std::vector<std::string>& command, PackageStart& start);

}  // namespace cordon::app
