// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a schema is compiled to: one node for each subschema. Private to this folder.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema/decimal.hpp"
#include "core/schema/pattern.hpp"

namespace cordon::schema {

using NodeId = std::uint32_t;
inline constexpr NodeId kNone = std::numeric_limits<NodeId>::max();

// Types, one bit each.
inline constexpr unsigned kNull = 1;
inline constexpr unsigned kBoolean = 2;
inline constexpr unsigned kInteger = 4;
inline constexpr unsigned kNumber = 8;
inline constexpr unsigned kString = 16;
inline constexpr unsigned kArray = 32;
inline constexpr unsigned kObject = 64;

struct Bound {
  std::string_view keyword = {};
  Decimal limit = {};
};

struct Count {
  std::string_view keyword = {};
  std::uint64_t limit = 0;
};

struct Choice {
  std::string_view keyword = {};
  std::vector<std::string> keys = {};  // of equality.hpp, sorted
};

// A reference whose target depends on the schemas that were gone through before.
struct Dynamic {
  NodeId first = kNone;   // what it means where it stands
  std::string name = {};  // empty: nothing else
};

struct Node {
  std::size_t resource = 0;  // the schema with an `$id` of its own that this is part of
  bool never = false;        // the schema `false`
  unsigned types = 0;        // 0: any
  std::vector<Choice> choices = {};
  std::vector<Bound> bounds = {};
  std::vector<Count> counts = {};  // of characters, elements, members
  std::vector<std::size_t> patterns = {};
  bool unique = false;

  std::vector<std::string> required = {};
  std::map<std::string, NodeId, std::less<>> properties = {};
  std::vector<std::pair<std::size_t, NodeId>> pattern_properties = {};
  NodeId additional_properties = kNone;
  NodeId property_names = kNone;
  NodeId unevaluated_properties = kNone;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required = {};
  std::vector<std::pair<std::string, NodeId>> dependent_schemas = {};

  std::vector<NodeId> prefix_items = {};
  NodeId items = kNone;  // of the elements behind `prefix_items`
  NodeId contains = kNone;
  std::uint64_t min_contains = 1;
  std::optional<std::uint64_t> max_contains = {};
  NodeId unevaluated_items = kNone;
  bool contains_evaluates = false;

  std::vector<NodeId> all_of = {};  // with the targets of references
  std::vector<NodeId> any_of = {};
  std::vector<NodeId> one_of = {};
  NodeId none_of = kNone;  // `not`
  NodeId condition = kNone;
  NodeId then_branch = kNone;
  NodeId else_branch = kNone;
  std::optional<Dynamic> dynamic = {};
};

struct Program {
  std::vector<Node> nodes = {};  // the first is the root
  std::vector<Pattern> patterns = {};
  std::map<std::pair<std::size_t, std::string>, NodeId> dynamic_anchors = {};
  bool unevaluated = false;  // some node asks what others have looked at
};

}  // namespace cordon::schema
