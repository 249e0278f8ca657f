// SPDX-License-Identifier: Apache-2.0
#include "core/policy/named_arguments.hpp"

#include <utility>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

using json::Kind;
using json::Value;

struct Level {
  std::string pointer = {};
  Value value = {};
  Schemas schemas = {};
};

Finding stray(const Level& at, const std::string& key, std::string_view reason) {
  return {Outcome::unclear, Errc::argument_denied, text::cat(at.pointer, '/', pointer_token(key)), std::string(reason)};
}

std::optional<Finding> check(const Level& at, const std::string& token) {
  const std::string loose = loosely(token);
  for (const json::Member member : at.value.members()) {
    const std::string key = member.key.string();
    if (key != token && loosely(key) == loose) {
      return stray(at, key, "is the name of a judged argument in another spelling");
    }
    if (!SchemaWalk::names(at.schemas, key)) {
      return stray(at, key, "is not among the arguments that were reviewed");
    }
  }
  return std::nullopt;
}

void descend(const SchemaWalk& schema, const Level& at, const std::string& token, std::vector<Level>& out) {
  if (at.value.is(Kind::array)) {
    const Schemas below = schema.elements(at.schemas);
    std::size_t index = 0;
    for (const Value element : at.value.elements()) {
      if (token == "*" || token == std::to_string(index)) {
        out.push_back({text::cat(at.pointer, '/', index), element, below});
      }
      ++index;
    }
    return;
  }
  for (const json::Member member : at.value.members()) {
    const std::string key = member.key.string();
    if (token == "*" || token == key) {
      out.push_back({text::cat(at.pointer, '/', pointer_token(key)), member.value, schema.member(at.schemas, key)});
    }
  }
}

// The proposals name the members of an array's elements without a *.
std::vector<Level> met_by(const SchemaWalk& schema, const std::string& token, std::vector<Level> levels) {
  const bool names_element =
      token == "*" || (!token.empty() && token.find_first_not_of("0123456789") == std::string::npos);
  std::vector<Level> out;
  while (!levels.empty()) {
    Level level = std::move(levels.back());
    levels.pop_back();
    if (level.value.is(Kind::array) && !names_element) {
      descend(schema, level, "*", levels);
    } else {
      out.push_back(std::move(level));
    }
  }
  return out;
}

}  // namespace

std::optional<Finding> stray_argument(const SchemaWalk& schema, const Value& arguments,
                                      const std::vector<const ArgumentPointer*>& looked_at) {
  for (const ArgumentPointer* pointer : looked_at) {
    std::vector<Level> levels = {{"", arguments, schema.top()}};
    for (const std::string& token : pointer->tokens()) {
      std::vector<Level> next;
      for (const Level& level : met_by(schema, token, std::move(levels))) {
        if (token != "*" || level.pointer.empty()) {
          if (auto found = check(level, token)) {
            return found;
          }
        }
        descend(schema, level, token, next);
      }
      levels = std::move(next);
    }
  }
  return std::nullopt;
}

}  // namespace cordon::policy
