// SPDX-License-Identifier: Apache-2.0
#pragma once
// app: the use cases behind the subcommands (run, capture, diff, review, check, doctor, audit). They join the layers
// below: a policy becomes a launch, a live catalog becomes a candidate, a candidate becomes a reviewed snapshot.
// Must not: parse arguments, print, or know about terminals (cli does). Texts for people are returned, not written.
// Start reading here (who calls us, and where things lie), then session_context.hpp, launch_plan.hpp, run_server.hpp.

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::app {

// Everything that we take from the surrounding process, read once in main. Clients pass almost nothing, so all of it
// works with HOME and PATH alone.
struct Caller {
  std::map<std::string, std::string> environment = {};
  std::string home = {};         // resolved; $HOME, else the account's
  std::string config_home = {};  // $XDG_CONFIG_HOME when absolute, else HOME/.config
  std::string state_home = {};   // $XDG_STATE_HOME when absolute, else HOME/.local/state
  std::string data_home = {};    // $XDG_DATA_HOME when absolute, else HOME/.local/share
  std::string executable = {};   // /proc/self/exe
  std::string prefix = {};       // of the installation: executable without /bin/mcp-cordon
  std::string account = {};      // login name, for the reviewer of a snapshot
  std::string system_config = "/etc/mcp-cordon";
  uid_t uid = 0;

  std::string config_folder() const { return config_home + "/mcp-cordon"; }
  std::string state_folder() const { return state_home + "/mcp-cordon"; }
  std::string packages_folder() const { return data_home + "/mcp-cordon/packages"; }
  std::string share_folder() const { return prefix + "/share/mcp-cordon"; }
  std::string stage_path() const { return prefix + "/libexec/mcp-cordon/stage"; }
  std::string probe_path() const { return prefix + "/libexec/mcp-cordon/probe"; }
};

// `environ` is the process's NAME=value array. internal when the account has no home folder at all.
Result<Caller> read_caller(const char* const* environ);

// The installation's prefix for an executable path: what stands before "/bin/NAME", else the executable's folder.
std::string prefix_of(std::string_view executable);

}  // namespace cordon::app
