// SPDX-License-Identifier: Apache-2.0
#pragma once
// Execution facts: what a launch permits, as JSON without secrets, so that a host can decide before any code runs.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/policy_lookup.hpp"
#include "base/error.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

// {"format":"mcp-cordon.facts","version":1,"server":…,"digest":…,"plan":{…}}; `digest` is over command and isolation.
std::string facts_json(const std::string& server, const sandbox::Plan& plan);

// What a client is told in _meta: backend, guarantees and the digest; nothing about paths.
std::string facts_summary(const std::string& server, const sandbox::Plan& plan);

struct FactsRequest {
  const Caller& caller;
  PolicyChoice choice = {};
  std::vector<std::string> client_command = {};
};
Result<std::string> facts_of(const FactsRequest& request);

}  // namespace cordon::app
