// SPDX-License-Identifier: Apache-2.0
#pragma once
// The audit record of a launch, and of one that did not come to pass.

#include <string>
#include <vector>

#include "app/planned_launch.hpp"
#include "app/session_context.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"

namespace cordon::app {

struct LaunchRecordInput {
  std::string purpose = {};  // "run", "capture" or "probe"
  const LoadedPolicy& loaded;
  const LoadedSnapshot& snapshot;
  const PlannedLaunch& planned;
  std::vector<std::string> launch_differences = {};  // let through by drift.launch: flag
  bool read_only = false;
  std::string trace = {};  // name of the file that will say what the server touched; empty: it is not traced
};

// {"event":"launch",…}: digests, names and guarantees; no value of the environment, and argv masked.
std::string launch_record(const LaunchRecordInput& input);

// {"event":"launch_refused","reason":…,"detail":…,"where":…}
std::string refused_launch_record(const Error& error);

// {"event":"captured",…}: what a capture learned, or why it learned nothing.
std::string captured_record(const Result<catalog::Catalog>& live);

// What stands in place of values that look like secrets: `--token=x`, `--api-key x`, `scheme://user:x@host`. The exact
// values of the policy's secrets are masked by the log itself.
std::vector<std::string> masked_argv(const std::vector<std::string>& argv);

}  // namespace cordon::app
