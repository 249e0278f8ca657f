// SPDX-License-Identifier: Apache-2.0
#pragma once
// Effects that hang on an argument: which operation, a file to write, code as text, another server's address.

#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/effects.hpp"

namespace cordon::catalog {

struct ArgumentEffects {
  std::vector<ConditionalEffect> when = {};
  std::vector<std::string> reasons = {};
  bool router = false;
};

// `description` of the tool in lower case; `effect`: what its words say, empty when they say nothing.
ArgumentEffects argument_effects(const json::Value& input_schema, std::string_view description,
                                 std::string_view effect);

}  // namespace cordon::catalog
