// SPDX-License-Identifier: Apache-2.0
#pragma once
// Execution facts: what a launch permits, as JSON without secrets, so that a host can decide before any code runs.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/policy_lookup.hpp"
#include "base/error.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

// Execution facts of a plan: the plan, with the names of the environment that the policy lists in place of those that
// this caller happens to have, so that who asks with one environment and starts with another gets one digest.
sandbox::Plan facts_plan(const policy::Launch& launch, sandbox::Plan plan);

// Of command and isolation settings; what `run --expect-facts` takes.
std::string facts_digest(const policy::Launch& launch, const sandbox::Plan& plan);

// {"format":"mcp-cordon.facts","version":1,"server":…,"digest":…,"plan":{…}}
std::string facts_json(const policy::Policy& policy, const sandbox::Plan& plan);

// What a client is told in _meta: backend, guarantees and the digest; nothing about paths.
std::string facts_summary(const policy::Policy& policy, const sandbox::Plan& plan);

struct FactsRequest {
  const Caller& caller;
  PolicyChoice choice = {};
  std::vector<std::string> client_command = {};
};
Result<std::string> facts_of(const FactsRequest& request);

}  // namespace cordon::app
