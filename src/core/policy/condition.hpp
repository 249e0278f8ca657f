// SPDX-License-Identifier: Apache-2.0
#pragma once
// One ArgumentCondition made ready, and what it finds in the arguments of a call.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/regex.hpp"
#include "core/json/number.hpp"
#include "core/json/value.hpp"
#include "core/policy/argument_pointer.hpp"
#include "core/policy/paths.hpp"
#include "core/policy/policy.hpp"

namespace cordon::policy {

// `unclear`: of another kind than the condition can judge, or spelled so that a server may read it differently. It
// never counts as holding, nor as the ground for passing a call on to the next rule.
enum class Outcome : std::uint8_t { holds, fails, unclear };

struct Finding {
  Outcome outcome = Outcome::fails;
  Errc code = Errc::argument_denied;  // of what does not hold; message_ambiguous
  std::string pointer = {};           // the place it is about
  std::string reason = {};            // in our words only
};

class Condition {
 public:
  // policy_invalid for a pointer or a pattern that is none; `where` is left to the caller.
  static Result<Condition> compile(const ArgumentCondition& condition);

  Finding check(const json::Value& arguments, const ServerView& view) const;
  const ArgumentPointer& pointer() const { return pointer_; }
  const ArgumentCondition& text() const { return text_; }

 private:
  struct Value {
    json::Kind kind = json::Kind::null;
    std::string canonical = {};
    std::string folded = {};                   // of a string
    std::optional<json::Decimal> number = {};  // of a number
  };
  // A dot stands for no line end, which people forget: where that makes the difference, it is unclear what was meant.
  struct Pattern {
    Regex strict;
    Regex loose;
  };
  Condition() = default;
  bool names_too_many_paths(const std::vector<ArgumentPointer::Place>& places) const;
  Finding judge(const json::Value& value, const ServerView& view) const;
  Finding one_of(const json::Value& value) const;
  Finding number(const json::Value& value) const;
  Finding string(const json::Value& value, const ServerView& view) const;
  Finding path(const std::string& value, const ServerView& view) const;
  Finding host(const std::string& value) const;
  bool wants_string() const;

  ArgumentCondition text_ = {};
  ArgumentPointer pointer_ = {};
  std::vector<Pattern> matches_ = {};
  std::vector<Pattern> not_matches_ = {};
  std::vector<Value> one_of_ = {};
};

// As a careless reader compares names: without case, `_`, `-` and blanks.
std::string loosely(std::string_view name);

}  // namespace cordon::policy
