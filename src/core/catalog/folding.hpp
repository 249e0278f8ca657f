// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members that equal a protocol member only after case folding: a reader that folds case would take one for the
// protocol's own, one that does not would pass it by.

#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

// catalog_invalid when `object` has such a member. What is no object has none.
Status check_folding(const json::Value& object, std::span<const std::string_view> protocol, const std::string& where);

}  // namespace cordon::catalog
