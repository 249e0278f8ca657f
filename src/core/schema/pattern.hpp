// SPDX-License-Identifier: Apache-2.0
#pragma once
// `pattern` of JSON Schema is a regular expression of ECMAScript; here it is matched by RE2, in linear time. What has
// another meaning there is rewritten, and what RE2 cannot express is refused, never approximated.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/regex.hpp"

namespace cordon::schema {

class Pattern {
 public:
  // The error says what cannot be expressed.
  static std::expected<Pattern, std::string> compile(std::string_view ecma);

  bool matches(std::string_view text) const;  // anywhere, as the standard has it

 private:
  // Look-aheads right behind a leading ^ are conditions of their own: all of the first, none of the second.
  std::vector<Regex> all_ = {};
  std::vector<Regex> none_ = {};
};

// The same expression in RE2's syntax.
std::expected<std::string, std::string> re2_syntax(std::string_view ecma);

}  // namespace cordon::schema
