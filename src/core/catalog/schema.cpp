// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/schema.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cordon::catalog {

namespace {

using json::Kind;
using json::Value;

// One bit per published dialect that may stand in `$schema`.
constexpr std::uint8_t kDraft04 = 1;
constexpr std::uint8_t kDraft06 = 2;
constexpr std::uint8_t kDraft07 = 4;
constexpr std::uint8_t k201909 = 8;
constexpr std::uint8_t k202012 = 16;
constexpr std::uint8_t kAll = kDraft04 | kDraft06 | kDraft07 | k201909 | k202012;
constexpr std::uint8_t kFrom06 = kAll & ~kDraft04;
constexpr std::uint8_t kFrom07 = kFrom06 & ~kDraft06;

struct Dialect {
  std::string_view uri;
  std::uint8_t bit;
};
// As published. An empty fragment changes nothing, so it may be there or not.
constexpr std::array kDialects = {
    Dialect{"http://json-schema.org/draft-04/schema", kDraft04},
    Dialect{"http://json-schema.org/draft-06/schema", kDraft06},
    Dialect{"http://json-schema.org/draft-07/schema", kDraft07},
    Dialect{"https://json-schema.org/draft/2019-09/schema", k201909},
    Dialect{"https://json-schema.org/draft/2020-12/schema", k202012},
};

struct Keyword {
  std::string_view name;
  std::uint8_t dialects;  // in which it means the same as in 2020-12
};
// Whatever is not listed (references, identifiers, `dependencies`, `additionalItems`, `contentEncoding`, unknown words,
// …) counts as meaning something else. `format` is listed because each dialect leaves it to the reader whether it
// asserts.
constexpr std::array kKeywords = {
    Keyword{"$comment", kFrom07},
    Keyword{"additionalProperties", kAll},
    Keyword{"allOf", kAll},
    Keyword{"anyOf", kAll},
    Keyword{"const", kFrom06},
    Keyword{"contains", kFrom06},
    Keyword{"default", kAll},
    Keyword{"description", kAll},
    Keyword{"else", kFrom07},
    Keyword{"enum", kAll},
    Keyword{"examples", kFrom06},
    Keyword{"exclusiveMaximum", kFrom06},
    Keyword{"exclusiveMinimum", kFrom06},
    Keyword{"format", kAll},
    Keyword{"if", kFrom07},
    Keyword{"items", kAll},
    Keyword{"maxItems", kAll},
    Keyword{"maxLength", kAll},
    Keyword{"maxProperties", kAll},
    Keyword{"maximum", kAll},
    Keyword{"minItems", kAll},
    Keyword{"minLength", kAll},
    Keyword{"minProperties", kAll},
    Keyword{"minimum", kAll},
    Keyword{"multipleOf", kAll},
    Keyword{"not", kAll},
    Keyword{"oneOf", kAll},
    Keyword{"pattern", kAll},
    Keyword{"patternProperties", kAll},
    Keyword{"properties", kAll},
    Keyword{"propertyNames", kFrom06},
    Keyword{"readOnly", kFrom07},
    Keyword{"required", kAll},
    Keyword{"then", kFrom07},
    Keyword{"title", kAll},
    Keyword{"type", kAll},
    Keyword{"uniqueItems", kAll},
    Keyword{"writeOnly", kFrom07},
};
static_assert(std::ranges::is_sorted(kKeywords, {}, &Keyword::name));

enum class Holds : std::uint8_t { data, schema, schema_list, schema_map, schema_or_list };

Holds holds(std::string_view keyword) {
  struct Entry {
    std::string_view name;
    Holds holds;
  };
  static constexpr std::array kEntries = {
      Entry{"$defs", Holds::schema_map},
      Entry{"additionalItems", Holds::schema},
      Entry{"additionalProperties", Holds::schema},
      Entry{"allOf", Holds::schema_list},
      Entry{"anyOf", Holds::schema_list},
      Entry{"contains", Holds::schema},
      Entry{"contentSchema", Holds::schema},
      Entry{"definitions", Holds::schema_map},
      Entry{"dependencies", Holds::schema_map},
      Entry{"dependentSchemas", Holds::schema_map},
      Entry{"else", Holds::schema},
      Entry{"if", Holds::schema},
      Entry{"items", Holds::schema_or_list},
      Entry{"not", Holds::schema},
      Entry{"oneOf", Holds::schema_list},
      Entry{"patternProperties", Holds::schema_map},
      Entry{"prefixItems", Holds::schema_list},
      Entry{"properties", Holds::schema_map},
      Entry{"propertyNames", Holds::schema},
      Entry{"then", Holds::schema},
      Entry{"unevaluatedItems", Holds::schema},
      Entry{"unevaluatedProperties", Holds::schema},
  };
  static_assert(std::ranges::is_sorted(kEntries, {}, &Entry::name));
  const auto found = std::ranges::lower_bound(kEntries, keyword, {}, &Entry::name);
  return found != kEntries.end() && found->name == keyword ? found->holds : Holds::data;
}

bool is_schema(Position position) { return position == Position::schema || position == Position::schema_root; }

bool mentions_integer(const Value& type) {
  if (type.is(Kind::string)) {
    return type.string_equals("integer");
  }
  for (const Value element : type.elements()) {
    if (element.is(Kind::string) && element.string_equals("integer")) {
      return true;
    }
  }
  return false;
}

// The dialects in which `keyword: value` means the same as in 2020-12.
std::uint8_t keyword_dialects(std::string_view keyword, const Value& value) {
  if (keyword.starts_with("x-")) {
    return kAll;  // a vendor's word, unknown to every dialect
  }
  const auto found = std::ranges::lower_bound(kKeywords, keyword, {}, &Keyword::name);
  if (found == kKeywords.end() || found->name != keyword) {
    return 0;
  }
  if (keyword == "items") {
    return value.is(Kind::object) ? kAll : value.is(Kind::boolean) ? kFrom06 : std::uint8_t{0};
  }
  if (keyword == "type") {
    return mentions_integer(value) ? kFrom06 : kAll;  // draft-04 does not take 1.0 for an integer
  }
  if (keyword == "required") {
    return value.is(Kind::array) ? kAll : std::uint8_t{0};
  }
  if (keyword.starts_with("exclusive")) {
    return value.is(Kind::number) ? kFrom06 : std::uint8_t{0};  // a boolean in draft-04
  }
  const bool boolean_schema =
      value.is(Kind::boolean) && holds(keyword) == Holds::schema && keyword != "additionalProperties";
  return boolean_schema ? found->dialects & kFrom06 : found->dialects;
}

std::uint8_t dialect_bit(std::string_view uri) {
  if (uri.ends_with('#')) {
    uri.remove_suffix(1);
  }
  const auto* found = std::ranges::find(kDialects, uri, &Dialect::uri);
  return found == kDialects.end() ? 0 : found->bit;
}

bool is_reference(std::string_view key) { return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef"; }

// Whether a reference may lead into a place that is sorted or left out. Escaped spellings count as such.
bool leads_into_list(const Value& reference) {
  if (!reference.is(Kind::string)) {
    return false;
  }
  const std::string target = reference.string();
  constexpr std::array<std::string_view, 4> kWords = {"enum", "required", "additionalProperties", "%"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return target.find(word) != std::string::npos; });
}

void collect(const Value& value, Position position, SchemaFacts& facts) {
  for (const json::Member member : value.members()) {
    const std::string key = member.key.string();
    if (is_reference(key) && leads_into_list(member.value)) {
      facts.references_listed = true;
    }
    if (is_schema(position) && !(position == Position::schema_root && key == "$schema")) {
      facts.dialects &= keyword_dialects(key, member.value);
      facts.unevaluated = facts.unevaluated || key.starts_with("unevaluated");
    }
    if (position == Position::schema_map && member.value.is(Kind::boolean)) {
      facts.dialects &= kFrom06;  // draft-04 has no boolean schemas
    }
    collect(member.value, member_position(position, key, member.value), facts);
  }
  for (const Value element : value.elements()) {
    if (position == Position::schema_list && element.is(Kind::boolean)) {
      facts.dialects &= kFrom06;
    }
    collect(element, element_position(position, element), facts);
  }
}

bool all_omissible(Position position, const Value& object) {
  for (const json::Member member : object.members()) {
    if (!omissible(position, member.key.string(), member.value, {})) {
      return false;
    }
  }
  return true;
}

bool all_strings(const Value& array) {
  for (const Value element : array.elements()) {
    if (!element.is(Kind::string)) {
      return false;
    }
  }
  return true;
}

bool is_true(const Value& value) { return value.is(Kind::boolean) && value.boolean(); }
bool is_false(const Value& value) { return value.is(Kind::boolean) && !value.boolean(); }

// The defaults that the protocol states for hints that are left out.
bool default_hint(std::string_view key, const Value& value) {
  if (key == "readOnlyHint" || key == "idempotentHint") {
    return is_false(value);
  }
  if (key == "destructiveHint" || key == "openWorldHint") {
    return is_true(value);
  }
  return false;
}

bool omissible_keyword(Position position, std::string_view key, const Value& value, const SchemaFacts& facts) {
  if (key == "$schema" && position == Position::schema_root && value.is(Kind::string)) {
    // Absent means 2020-12 since 2025-11-25, and draft-07 to most clients before that: all three must agree.
    const std::uint8_t bit = dialect_bit(value.string());
    const std::uint8_t needed = bit | kDraft07 | k202012;
    return bit != 0 && (facts.dialects & needed) == needed;
  }
  if (key == "required") {
    return value.is(Kind::array) && value.size() == 0 && !facts.references_listed;
  }
  if (key == "additionalProperties") {
    return is_true(value) && !facts.references_listed && !facts.unevaluated;
  }
  return false;
}

}  // namespace

Position member_position(Position parent, std::string_view key, const Value& child) {
  const bool object = child.is(Kind::object);
  const bool array = child.is(Kind::array);
  if (parent == Position::tool && object) {
    return key == "inputSchema" || key == "outputSchema" ? Position::schema_root
           : key == "annotations"                        ? Position::annotations
           : key == "execution"                          ? Position::execution
                                                         : Position::data;
  }
  if (parent == Position::schema_map) {
    return object ? Position::schema : Position::data;
  }
  if (!is_schema(parent)) {
    return Position::data;
  }
  switch (holds(key)) {
    case Holds::data:
      return Position::data;
    case Holds::schema:
      return object ? Position::schema : Position::data;
    case Holds::schema_list:
      return array ? Position::schema_list : Position::data;
    case Holds::schema_map:
      return object ? Position::schema_map : Position::data;
    case Holds::schema_or_list:
      return object ? Position::schema : array ? Position::schema_list : Position::data;
  }
  return Position::data;
}

Position element_position(Position parent, const Value& element) {
  return parent == Position::schema_list && element.is(Kind::object) ? Position::schema : Position::data;
}

SchemaFacts schema_facts(const Value& schema_root) {
  SchemaFacts facts;
  collect(schema_root, Position::schema_root, facts);
  return facts;
}

bool order_free(Position position, std::string_view key, const Value& value, const SchemaFacts& facts) {
  if (!is_schema(position) || !value.is(Kind::array) || facts.references_listed) {
    return false;
  }
  return key == "enum" || (key == "required" && all_strings(value));
}

bool omissible(Position position, std::string_view key, const Value& value, const SchemaFacts& facts) {
  switch (position) {
    case Position::tool:
      return (key == "annotations" && value.is(Kind::object) && all_omissible(Position::annotations, value)) ||
             (key == "execution" && value.is(Kind::object) && all_omissible(Position::execution, value));
    case Position::annotations:
      return default_hint(key, value);
    case Position::execution:
      return key == "taskSupport" && value.is(Kind::string) && value.string_equals("forbidden");
    case Position::schema_root:
    case Position::schema:
      return omissible_keyword(position, key, value, facts);
    case Position::schema_map:
    case Position::schema_list:
    case Position::data:
      return false;
  }
  return false;
}

}  // namespace cordon::catalog
