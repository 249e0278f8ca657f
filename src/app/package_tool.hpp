// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tool that makes something in a folder of ours (npm, pip), in a sandbox of its own: it sees the system's programs,
// that folder as its home, and reaches the hosts that it is given.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "egress/plan.hpp"

namespace cordon::app {

struct PackageTool {
  std::vector<std::string> argv = {};         // argv[0] absolute
  std::string executable = {};                // real path of argv[0]
  std::string home = {};                      // outside folder for /home/cordon
  std::string cwd = {};                       // inside
  std::string runtime = {};                   // the preset of system paths that it needs: "node", "python"
  std::string temporary = "/tmp";             // inside
  std::vector<std::string> environment = {};  // besides PATH, HOME and TMPDIR
  egress::Rules network = {};
  std::string whom = {};  // for messages of the egress: what allowed it
  // Called in a process apart, for each line that it prints: to show progress.
  std::function<void(std::string_view line)> heard = {};
};

struct ToolEnd {
  int status = 0;                       // exit status, or 128 and the signal
  std::vector<std::string> lines = {};  // the last that it printed, printable
};

// unsupported_isolation when this machine cannot do it, timed_out, launch_failed.
Result<ToolEnd> run_package_tool(const Caller& caller, const PackageTool& tool);

}  // namespace cordon::app
