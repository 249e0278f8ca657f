// SPDX-License-Identifier: Apache-2.0
#pragma once
// HOME and TMPDIR for backends that show everything at its own path: folders of ours, outside.

#include <string>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct HostHome {
  std::string home = {};
  std::string temporary = {};
};

// Where they lie. Started by root, in /var/lib/mcp-cordon or beside the state folder of $XDG_STATE_HOME: root's state
// folder is closed to the account that the server gets.
HostHome host_home(const Caller& caller, const std::string& server);

// Makes both, private. Root's are given to the server's account by the stage. file_untrusted, file_unreadable.
Result<HostHome> make_host_home(const Caller& caller, const std::string& server);

}  // namespace cordon::app
