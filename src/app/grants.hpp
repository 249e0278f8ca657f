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
  std::vector<std::string> unix_sockets = {};
};

// Every path must exist, be a regular file or a folder, and be spelled without a symlink in it: an error names the path
// it leads to, so that what was reviewed is what is bound. policy_invalid.
Result<Grants> resolve_grants(const policy::Policy& policy, const Caller& caller);

// The same, of the entries without a fault; those of the others are added to `faults`.
Grants resolve_grants(const policy::Policy& policy, const Caller& caller, std::vector<Error>& faults);

// The outside path that an inside path shows, by the innermost mount; itself when no mount covers it.
std::string outside_path(const std::vector<sandbox::Mount>& mounts, const std::string& inside);

}  // namespace cordon::app
