// SPDX-License-Identifier: Apache-2.0
#pragma once
// explain: what the gate would decide about a tool, and by which line of the policy.

#include <string>

#include "app/caller.hpp"
#include "app/policy_lookup.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/json/value.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

// Pure: a few lines for a person. Without a snapshot nothing is reviewed.
std::string explain_tool(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool);
// The same of one call: every rule that was looked at, and why it does or does not apply. Paths are judged by their
// text.
std::string explain_call(const policy::Policy& policy, const catalog::Snapshot* snapshot, const std::string& tool,
                         const json::Value& arguments);

struct ExplainRequest {
  const Caller& caller;
  PolicyChoice choice = {};
  std::string tool = {};
  json::Value arguments = {};  // of a call; absent: of the tool, whatever they are
  bool read_only = false;      // as in a session of `run --read-only`
};
Result<std::string> explain(const ExplainRequest& request);

}  // namespace cordon::app
