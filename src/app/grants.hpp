// SPDX-License-Identifier: Apache-2.0
#pragma once
// isolation.filesystem of a policy, checked against what is really there and turned into mounts.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// "policy.yaml:12:5", or the file alone for a default.
std::string place_in(const policy::Policy& policy, const policy::Position& position);

struct Grants {
  std::vector<sandbox::Mount> mounts = {};  // parents before what lies in them
  std::vector<std::string> deny = {};       // inside paths, sorted
};

// Every path must exist, be a regular file or a folder, and be spelled without a symlink in it: an error names the path
// it leads to, so that what was reviewed is what is bound. policy_invalid.
Result<Grants> resolve_grants(const policy::Policy& policy, const Caller& caller);

// What no server may write: with it, it could give itself other rights the next time.
struct OwnPaths {
  std::vector<std::string> files = {};    // no write grant may equal or contain one
  std::vector<std::string> folders = {};  // nor lie in one of these
};

// Our program, its helper, the policy, the snapshot, and our configuration and state folders.
OwnPaths own_paths(const Caller& caller, const std::string& policy_file, const std::string& snapshot_file);

// policy_invalid for the first write grant that reaches one of `own`.
Status check_write_grants(const policy::Policy& policy, const Caller& caller, const OwnPaths& own);

// The outside path that an inside path shows, by the innermost mount; itself when no mount covers it.
std::string outside_path(const std::vector<sandbox::Mount>& mounts, const std::string& inside);

}  // namespace cordon::app
