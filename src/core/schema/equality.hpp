// SPDX-License-Identifier: Apache-2.0
#pragma once
// When two JSON values are the same: 1 is 1.0, the order of members has no meaning, a string is what it decodes to.

#include <string>

#include "core/json/value.hpp"

namespace cordon::schema {

struct Key {
  std::string text = {};   // equal for equal values, and only for them
  bool ambiguous = false;  // there is a number or string in it that readers read differently
};
Key key_of(const json::Value& value);

// A string with a lone surrogate or U+0000: readers cut or replace them.
bool is_ambiguous_text(const json::Value& string);

}  // namespace cordon::schema
