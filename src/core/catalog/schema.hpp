// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where one stands inside a tool definition: which values are JSON Schemas, which members are keywords and which are
// plain data. Used by compare.cpp (forms) and places.cpp (differences), so that both read a definition alike.

#include <cstdint>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::catalog {

enum class Position : std::uint8_t {
  tool,
  annotations,  // the object under `annotations`
  execution,    // the object under `execution`
  schema_root,  // the object under `inputSchema` or `outputSchema`
  schema,       // any schema object below that
  schema_map,   // an object whose values are schemas: `properties`, `$defs`, …
  schema_list,  // an array whose elements are schemas: `anyOf`, …
  data,         // anything else; nothing in it is a keyword
};

// The position of `child`, which stands under `key` in an object at `parent`.
Position member_position(Position parent, std::string_view key, const json::Value& child);
// The position of an element of an array at `parent`.
Position element_position(Position parent, const json::Value& element);

// What must be known of a whole schema before anything in it may count as order or form only.
struct SchemaFacts {
  bool references_listed = false;  // a reference leads into `enum`, `required` or `additionalProperties`, or might
  bool unevaluated = false;        // an unevaluated… keyword, under which `additionalProperties: true` has a meaning
  std::uint8_t dialects = 0xFF;    // those in which every keyword present means what it means in 2020-12
};
SchemaFacts schema_facts(const json::Value& schema_root);

// True for an array under the keyword `key` at `position` whose order has no meaning: `enum`, and `required` when all
// its elements are strings.
bool order_free(Position position, std::string_view key, const json::Value& value, const SchemaFacts& facts);

// True when the member may be left out without a change of meaning: the closed list of product §4. `facts` are those of
// the schema around it, or default ones outside of schemas.
bool omissible(Position position, std::string_view key, const json::Value& value, const SchemaFacts& facts);

}  // namespace cordon::catalog
