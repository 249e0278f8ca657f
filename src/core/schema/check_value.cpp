// SPDX-License-Identifier: Apache-2.0
// What a schema says of a value by itself.
#include <algorithm>

#include "core/schema/checker.hpp"
#include "core/schema/equality.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Value;

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

bool Checker::scalar(const Node& node, const Value& value) {
  return type(node, value) && choices(node, value) && numbers(node, value) && texts(node, value);
}

Decimal Checker::number(const Value& value) {
  Decimal read = decimal(value.number_text());
  if (read.beyond || (reading_ == Reading::unambiguous && !reads_alike(read))) {
    stop(Outcome::ambiguous);
  }
  return read;
}

bool Checker::type(const Node& node, const Value& value) {
  if (node.types == 0) {
    return true;
  }
  unsigned have = 0;
  switch (value.kind()) {
    case Kind::null:
      have = kNull;
      break;
    case Kind::boolean:
      have = kBoolean;
      break;
    case Kind::number:
      have = kNumber;
      if ((node.types & kNumber) == 0 && (node.types & kInteger) != 0) {
        have = is_integer(number(value)) ? kInteger : kNumber;
      }
      break;
    case Kind::string:
      have = kString;
      break;
    case Kind::array:
      have = kArray;
      break;
    case Kind::object:
      have = kObject;
      break;
  }
  return (node.types & have) != 0 || fails("type");
}

bool Checker::choices(const Node& node, const Value& value) {
  if (node.choices.empty()) {
    return true;
  }
  if (!spend(value.raw().size() / kBytesAStep)) {
    return false;
  }
  const Key key = key_of(value);
  if (key.ambiguous && reading_ == Reading::unambiguous) {
    stop(Outcome::ambiguous);
  }
  for (const Choice& choice : node.choices) {
    if (!std::ranges::binary_search(choice.keys, key.text)) {
      return fails(choice.keyword);
    }
  }
  return true;
}

bool Checker::numbers(const Node& node, const Value& value) {
  if (node.bounds.empty() || !value.is(Kind::number)) {
    return true;
  }
  const Decimal have = number(value);
  for (const Bound& bound : node.bounds) {
    const auto order = compare(have, bound.limit);
    const bool holds = bound.keyword == "minimum"            ? order >= 0
                       : bound.keyword == "maximum"          ? order <= 0
                       : bound.keyword == "exclusiveMinimum" ? order > 0
                       : bound.keyword == "exclusiveMaximum" ? order < 0
                                                             : multiple_of(have, bound.limit);
    if (!holds) {
      return fails(bound.keyword);
    }
  }
  return true;
}

bool Checker::counted(const Node& node, std::string_view least, std::string_view most, std::size_t have) {
  for (const Count& count : node.counts) {
    if ((count.keyword == least && have < count.limit) || (count.keyword == most && have > count.limit)) {
      return fails(count.keyword);
    }
  }
  return true;
}

bool Checker::texts(const Node& node, const Value& value) {
  if (!value.is(Kind::string) || (node.patterns.empty() && node.counts.empty())) {
    return true;
  }
  if (reading_ == Reading::unambiguous && is_ambiguous_text(value)) {
    stop(Outcome::ambiguous);
  }
  const std::string text = value.string();
  if (!spend(text.size() / kBytesAStep * (1 + node.patterns.size()) + node.patterns.size())) {
    return false;
  }
  if (!counted(node, "minLength", "maxLength", code_points(text))) {
    return false;
  }
  const auto matches = [&](std::size_t pattern) { return program_.patterns[pattern].matches(text); };
  return std::ranges::all_of(node.patterns, matches) || fails("pattern");
}

}  // namespace cordon::schema
