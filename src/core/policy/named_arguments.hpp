// SPDX-License-Identifier: Apache-2.0
#pragma once
// An argument that a rule looks at must not be passed by under another name (product §4).

#include <optional>
#include <vector>

#include "core/json/value.hpp"
#include "core/policy/argument_pointer.hpp"
#include "core/policy/condition.hpp"
#include "core/policy/schema_walk.hpp"

namespace cordon::policy {

// The first member, on the way of one of these pointers, that the reviewed schema does not name, or that a careless
// reader takes for the one that is looked at.
std::optional<Finding> stray_argument(const SchemaWalk& schema, const json::Value& arguments,
                                      const std::vector<const ArgumentPointer*>& looked_at);

}  // namespace cordon::policy
