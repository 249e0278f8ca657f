// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts of two schemas that belong together: elements of lists, and a schema that became one of several alternatives.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/catalog/change_list.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

std::vector<json::Value> elements_of(const json::Value& array);
// The names of the members, sorted; none of what is no object.
std::vector<std::string> names_of(const json::Value& object);
// The strings among the elements, sorted.
std::vector<std::string> strings_of(const json::Value& array);

// Elements of two sorted arrays that only one of them has, each by itself.
void for_differences(const Sides& sorted, const std::function<void(const Sides&)>& report);

// Indices of the elements of `list` that `other` does not have as often.
std::vector<std::size_t> unmatched(const std::vector<json::Value>& list, const std::vector<json::Value>& other);

// Under `not`, what lets more through lets less through.
enum class Sense : std::uint8_t { plain, negated };

// `{"type": "string"}` beside `{"anyOf": [{"type": "string"}, {"type": "null"}]}`, either way round: the one is among
// the alternatives of the other, texts, titles and defaults aside, which may stand on either level. Then the other
// alternatives are all that changed, and are told. False, and nothing is told, where it is not so.
bool tell_wrapping(const Sides& schemas, Sense sense, ChangeList& list);

}  // namespace cordon::catalog
