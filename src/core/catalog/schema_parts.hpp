// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parts of two schemas that belong together: elements of lists, and a schema that became one of several alternatives.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/change_list.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

std::vector<json::Value> elements_of(const json::Value& array);
// The strings among the elements, sorted.
std::vector<std::string> strings_of(const json::Value& array);

// Elements of two sorted arrays that only one of them has, each by itself.
void for_differences(const Sides& sorted, const std::function<void(const Sides&)>& report);

// Indices of the elements of `list` that `other` does not have as often.
std::vector<std::size_t> unmatched(const std::vector<json::Value>& list, const std::vector<json::Value>& other);

// `{"type": "string"}` beside `{"anyOf": [{"type": "string"}, {"type": "null"}]}`: the one is among the alternatives of
// the other, texts, titles and defaults aside, which may stand on either level.
struct Wrapping {
  struct Text {
    std::string key = {};
    json::Value plain = {};
    json::Value wide = {};
    bool inside = false;  // in the alternative rather than around it
  };
  std::string_view keyword = {};           // "anyOf" or "oneOf"
  std::size_t kept = 0;                    // which alternative it is
  std::vector<json::Value> branches = {};  // all of them
  std::vector<Text> texts = {};            // what differs in texts, titles and defaults
};
std::optional<Wrapping> wrapping(const json::Value& plain, const json::Value& wide);

}  // namespace cordon::catalog
