// SPDX-License-Identifier: Apache-2.0
#pragma once
// probe --through TOOL: the real server, started as `capture` starts it, is asked three times to do what it must not be
// able to do: read a key, write a file outside, reach a host that is not listed. Nothing leaves the machine: key, file
// and host are our own canaries.

#include <functional>
#include <string>
#include <vector>

#include "app/probe.hpp"

namespace cordon::app {

struct ThroughRequest {
  const Caller& caller;
  const LoadedPolicy& loaded;
  std::vector<std::string> client_command = {};
  std::string version = {};
  std::string tool = {};
  std::string pointer = {};                           // where the path or URL goes in its arguments
  std::string arguments = {};                         // the others, a JSON object; empty: none
  std::function<void(const std::string&)> tell = {};  // what is about to be called, for the person
};

// tool_not_reviewed when the snapshot does not hold the tool, launch_changed when this is not the launch that was
// reviewed, policy_invalid for arguments that cannot be built; else as capture.
Result<ProbeReport> probe_through(const ThroughRequest& request);

}  // namespace cordon::app
