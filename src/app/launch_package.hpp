// SPDX-License-Identifier: Apache-2.0
#pragma once
// What launch.source adds to a launch: program, interpreter and files of the installed package, or the image.

#include <string>
#include <vector>

#include "app/launch_plan.hpp"
#include "app/package_start.hpp"
#include "base/error.hpp"

namespace cordon::app {

// Sets argv, executable, mounts and image of the spec, and what binds the launch to the package, and begins the look at
// its files: `start.wait()` ends it. launch_failed when it is not installed, policy_invalid when the backend does
// not fit.
Status add_package(const LaunchRequest& request, const std::vector<std::string>& command, PreparedLaunch& out,
                   PackageStart& start);

}  // namespace cordon::app
