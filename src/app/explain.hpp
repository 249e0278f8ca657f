// SPDX-License-Identifier: Apache-2.0
#pragma once
// explain: what the gate would decide about a tool, and by which line of the policy.

#include <string>

#include "app/caller.hpp"
#include "app/policy_lookup.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// Pure: a few lines for a person. Without a snapshot nothing is reviewed.
std::string explain_tool(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool);

Result<std::string> explain(const Caller& caller, const PolicyChoice& choice, const std::string& tool);

}  // namespace cordon::app
