// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server can write must never steer a later launch: with it, the server could give itself other rights, or run
// outside of the sandbox, the next time.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// Paths as they are spelled. Each counts with every symlink on the way to it and with where it leads.
struct OwnPaths {
  std::vector<std::string> files = {};    // no write grant may equal or contain one
  std::vector<std::string> folders = {};  // nor lie in one of these
  // Files of ours that must have no second name where a server could write. Not asked of programs: package managers
  // link those from their stores.
  std::vector<std::string> single = {};
};

// Our program, its helper, the policy, the snapshot, and our configuration and state folders.
OwnPaths own_paths(const Caller& caller, const std::string& policy_file, const std::string& snapshot_file);

// What the launch runs: the program by every name on the way to it, its interpreters, the files of its command, and
// where its secrets come from. `search_path` is PATH inside.
void add_launch_paths(const policy::Policy& policy, const Caller& caller, const sandbox::LaunchSpec& spec,
                      const std::string& search_path, OwnPaths& own);

// policy_invalid for the first write grant that reaches one of `own`, by name or as the same file or folder (bind
// mounts, other spellings). file_untrusted for a file of `own.single` whose other name could lie in a write grant.
Status check_write_grants(const policy::Policy& policy, const Caller& caller, const OwnPaths& own);

}  // namespace cordon::app
