// SPDX-License-Identifier: Apache-2.0
#include "core/policy/schema_walk.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "core/policy/argument_pointer.hpp"

namespace cordon::policy {
namespace {

using json::Kind;
using json::Value;

constexpr std::size_t kMaxNodes = 256;  // a hostile schema may refer to itself in any number of ways

}  // namespace

Schemas SchemaWalk::expand(Schemas nodes) const {
  Schemas out;
  std::set<std::uint32_t> seen;
  while (!nodes.empty() && out.size() < kMaxNodes) {
    const Value node = nodes.back();
    nodes.pop_back();
    if (!node.is(Kind::object) || !seen.insert(node.index()).second) {
      continue;
    }
    out.push_back(node);
    for (const std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      for (const Value branch : node.find(keyword).elements()) {
        nodes.push_back(branch);
      }
    }
    if (const Value reference = node.find("$ref"); reference.is(Kind::string)) {
      const std::string text = reference.string();
      const auto pointer = text.starts_with("#/") ? ArgumentPointer::parse(std::string_view(text).substr(1))
                                                  : fail(Errc::policy_invalid, "");
      if (pointer && std::ranges::find(pointer->tokens(), "*") == pointer->tokens().end()) {
        for (const ArgumentPointer::Place& place : pointer->places(root_)) {
          nodes.push_back(place.value);
        }
      } else if (text == "#") {
        nodes.push_back(root_);
      }
    }
  }
  return out;
}

Schemas SchemaWalk::member(const Schemas& of, std::string_view name) const {
  Schemas found;
  for (const Value node : of) {
    if (const Value below = node.find("properties").find(name)) {
      found.push_back(below);
    }
  }
  return expand(std::move(found));
}

Schemas SchemaWalk::elements(const Schemas& of) const {
  Schemas found;
  for (const Value node : of) {
    found.push_back(node.find("items"));
    for (const std::string_view keyword : {"items", "prefixItems"}) {
      for (const Value element : node.find(keyword).elements()) {
        found.push_back(element);
      }
    }
  }
  return expand(std::move(found));
}

bool SchemaWalk::names(const Schemas& of, std::string_view member) {
  return std::ranges::any_of(of, [&](const Value& node) { return bool(node.find("properties").find(member)); });
}

std::vector<std::string> SchemaWalk::values(const Schemas& of) {
  std::vector<std::string> out;
  for (const Value node : of) {
    for (const Value element : node.find("enum").elements()) {
      if (element.is(Kind::string)) {
        out.push_back(element.string());
      }
    }
    if (const Value only = node.find("const"); only.is(Kind::string)) {
      out.push_back(only.string());
    }
  }
  return out;
}

}  // namespace cordon::policy
