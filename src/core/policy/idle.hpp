// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a policy says about arguments that nobody has reviewed: a slip of the pen, or a tool that changed.

#include <string>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"

namespace cordon::policy {

struct IdleCondition {
  std::size_t rule = 0;
  Position position = {};
  std::string pointer = {};
};

// Conditions on an argument that no tool which the rule names was reviewed with; not of rules that name none.
std::vector<IdleCondition> idle_conditions(const Tools& tools, const catalog::Snapshot& snapshot);

}  // namespace cordon::policy
