// SPDX-License-Identifier: Apache-2.0
#pragma once
// A policy file as text → policy::Policy. The format is docs/formats/policy.md; sections are read in formats/policy/.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"

namespace cordon::formats {

// The policy, or the first fault in the order of the file: policy_invalid with `where` = "file:line:column". Nothing of
// a policy that has a fault is used. `file` is kept in the policy and named in messages; it is not opened.
Result<policy::Policy> read_policy(std::string_view text, std::string file);

// All faults in the order of the file (a text that is no YAML has one); empty exactly when read_policy succeeds.
std::vector<Error> check_policy(std::string_view text, std::string file);

// [A-Za-z0-9][A-Za-z0-9._-]{0,63}: what a policy, and the server in it, may be called.
bool is_server_name(std::string_view name);

}  // namespace cordon::formats
