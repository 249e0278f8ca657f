// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ceilings in force: which files say them, and whether a policy stays below all of them.

#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/policy/ceiling.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// A ceiling that was read, with its paths resolved.
struct LoadedCeiling {
  policy::Ceiling ceiling = {};
  std::string digest = {};   // of the file's bytes
  std::string spelled = {};  // absolute, as it was named; may lead through symlinks
};

// What --ceiling names, what MCP_CORDON_CEILING names, and the system's one where there is one, in this order. A named
// one that is missing or untrusted is an error, and so is a system's one that cannot be read: file_unreadable,
// file_untrusted, policy_invalid.
Result<std::vector<LoadedCeiling>> load_ceilings(const Caller& caller, const std::vector<std::string>& named);

// Every fault of the ceilings in force, and of files that are none.
std::vector<Error> check_ceilings(const Caller& caller, const std::vector<std::string>& named);

// One isolation_conflict per way in which the policy asks for more than one of the ceilings, naming both lines. `text`
// is the file that the policy was read from.
std::vector<Error> excesses(const Caller& caller, const policy::Policy& policy, std::string_view text,
                            const std::vector<LoadedCeiling>& ceilings);

// All of them as one error, up to a bound, each with its places in the detail.
Error joined(const std::vector<Error>& excesses);

}  // namespace cordon::app
