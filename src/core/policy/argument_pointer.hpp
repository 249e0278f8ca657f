// SPDX-License-Identifier: Apache-2.0
#pragma once
// A JSON pointer into the arguments of a call, in which `*` stands for each element or member.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/json/value.hpp"

namespace cordon::policy {

class ArgumentPointer {
 public:
  // policy_invalid unless it begins with / and its escapes are ~0 and ~1.
  static Result<ArgumentPointer> parse(std::string_view text);

  struct Place {
    std::string pointer = {};
    json::Value value = {};   // absent: nothing is there
    bool wrong_kind = false;  // on the way stands something that has no members or elements
  };
  // Every place that it names. Where a * finds nothing to stand for, one place at which nothing is.
  std::vector<Place> places(const json::Value& arguments) const;

  const std::vector<std::string>& tokens() const { return tokens_; }

 private:
  std::vector<std::string> tokens_;
};

// `token` as part of a pointer: ~ and / escaped.
std::string pointer_token(std::string_view token);

}  // namespace cordon::policy
