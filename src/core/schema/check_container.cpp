// SPDX-License-Identifier: Apache-2.0
// What a schema says of the members of an object, and of the elements of an array.
#include <algorithm>
#include <cstdint>

#include "core/schema/checker.hpp"
#include "core/schema/equality.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Member;
using json::Value;

}  // namespace

bool Checker::container(const Node& node, const Value& value, Seen& seen) {
  if (value.is(Kind::object)) {
    return required(node, value) && members(node, value, seen) && dependents(node, value, seen) &&
           unevaluated_members(node, value, seen);
  }
  if (value.is(Kind::array)) {
    return counted(node, "minItems", "maxItems", node.counts.empty() ? 0 : value.size()) &&
           elements(node, value, seen) && contains(node, value, seen) && unique(node, value) &&
           unevaluated_elements(node, value, seen);
  }
  return true;
}

bool Checker::has(const Value& value, const std::string& name) {
  return spend(1 + value.raw().size() / 1024) && static_cast<bool>(value.find(name));
}

bool Checker::required(const Node& node, const Value& value) {
  const auto there = [&](const std::string& name) { return has(value, name); };
  if (!std::ranges::all_of(node.required, there)) {
    return fails("required");
  }
  for (const auto& [name, needed] : node.dependent_required) {
    if (has(value, name) && !std::ranges::all_of(needed, there)) {
      return fails("dependentRequired");
    }
  }
  return node.counts.empty() || counted(node, "minProperties", "maxProperties", value.size());
}

bool Checker::members(const Node& node, const Value& value, Seen& seen) {
  if (node.properties.empty() && node.pattern_properties.empty() && node.additional_properties == kNone &&
      node.property_names == kNone) {
    return true;
  }
  std::size_t index = 0;
  for (const Member member : value.members()) {
    bool looked = false;
    if (!spend(1) || !member_fits(node, member, looked)) {
      return false;
    }
    if (looked && !seen.empty()) {
      seen[index] = true;
    }
    ++index;
  }
  return true;
}

bool Checker::member_fits(const Node& node, const Member& member, bool& looked) {
  const std::string name = member.key.string();
  if (node.property_names != kNone && !inside(node.property_names, member.key, member.key, 0)) {
    return fails("propertyNames");
  }
  if (const auto found = node.properties.find(name); found != node.properties.end()) {
    looked = true;
    if (!inside(found->second, member.value, member.key, 0)) {
      return false;
    }
  }
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (!spend(1 + name.size() / kBytesAStep)) {
      return false;
    }
    if (program_.patterns[pattern].matches(name)) {
      looked = true;
      if (!inside(schema, member.value, member.key, 0)) {
        return false;
      }
    }
  }
  if (!looked && node.additional_properties != kNone) {
    looked = true;
    return inside(node.additional_properties, member.value, member.key, 0) || fails("additionalProperties");
  }
  return true;
}

bool Checker::dependents(const Node& node, const Value& value, Seen& seen) {
  return std::ranges::all_of(node.dependent_schemas, [&](const auto& dependent) {
    return !has(value, dependent.first) || visit(dependent.second, value, &seen);
  });
}

bool Checker::elements(const Node& node, const Value& value, Seen& seen) {
  if (node.prefix_items.empty() && node.items == kNone) {
    return true;
  }
  std::size_t index = 0;
  for (const Value element : value.elements()) {
    const NodeId schema = index < node.prefix_items.size() ? node.prefix_items[index] : node.items;
    if (schema == kNone) {
      break;
    }
    if (!inside(schema, element, {}, index)) {
      return false;
    }
    if (!seen.empty()) {
      seen[index] = true;
    }
    ++index;
  }
  return true;
}

bool Checker::contains(const Node& node, const Value& value, Seen& seen) {
  if (node.contains == kNone) {
    return true;
  }
  std::uint64_t found = 0;
  std::size_t index = 0;
  for (const Value element : value.elements()) {
    if (quietly(node.contains, element, nullptr)) {
      ++found;
      if (node.contains_evaluates && !seen.empty()) {
        seen[index] = true;
      }
    }
    ++index;
  }
  if (found < node.min_contains) {
    return fails("contains");
  }
  return !node.max_contains || found <= *node.max_contains || fails("maxContains");
}

bool Checker::unique(const Node& node, const Value& value) {
  if (!node.unique) {
    return true;
  }
  if (!spend(value.raw().size() / kBytesAStep)) {
    return false;
  }
  std::vector<std::string> keys;
  for (const Value element : value.elements()) {
    Key key = key_of(element);
    if (key.ambiguous && reading_ == Reading::unambiguous) {
      stop(Outcome::ambiguous);
    }
    keys.push_back(std::move(key.text));
  }
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) == keys.end() || fails("uniqueItems");
}

bool Checker::unevaluated_members(const Node& node, const Value& value, Seen& seen) {
  if (node.unevaluated_properties == kNone) {
    return true;
  }
  std::size_t index = 0;
  for (const Member member : value.members()) {
    if (!seen[index] && !inside(node.unevaluated_properties, member.value, member.key, 0)) {
      return fails("unevaluatedProperties");
    }
    seen[index++] = true;
  }
  return true;
}

bool Checker::unevaluated_elements(const Node& node, const Value& value, Seen& seen) {
  if (node.unevaluated_items == kNone) {
    return true;
  }
  std::size_t index = 0;
  for (const Value element : value.elements()) {
    if (!seen[index] && !inside(node.unevaluated_items, element, {}, index)) {
      return fails("unevaluatedItems");
    }
    seen[index++] = true;
  }
  return true;
}

}  // namespace cordon::schema
