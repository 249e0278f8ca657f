// SPDX-License-Identifier: Apache-2.0
#pragma once
// isolation.template with a command in it.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// With `backend: command` what is started, and so what is fingerprinted, is the whole line.
// policy_invalid when launch.cwd is none that a template could be told.
Status put_in_template(const policy::Policy& policy, std::vector<std::string>& command, sandbox::LaunchSpec& spec);

}  // namespace cordon::app
