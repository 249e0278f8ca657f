// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/schema_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace cordon::catalog {

using json::Kind;
using json::Value;

namespace {

struct KeywordEntry {
  std::string_view name;
  Keyword keyword;
};
constexpr std::array kKeywords = {
    KeywordEntry{"$comment", Keyword::text},
    KeywordEntry{"$defs", Keyword::definitions},
    KeywordEntry{"$ref", Keyword::reference},
    KeywordEntry{"$schema", Keyword::dialect},
    KeywordEntry{"additionalItems", Keyword::openness},
    KeywordEntry{"additionalProperties", Keyword::openness},
    KeywordEntry{"allOf", Keyword::conjunction},
    KeywordEntry{"anyOf", Keyword::alternatives},
    KeywordEntry{"const", Keyword::choice},
    KeywordEntry{"contains", Keyword::schema},
    KeywordEntry{"contentSchema", Keyword::schema},
    KeywordEntry{"default", Keyword::initial},
    KeywordEntry{"definitions", Keyword::definitions},
    KeywordEntry{"dependencies", Keyword::schemas_by_name},
    KeywordEntry{"dependentSchemas", Keyword::schemas_by_name},
    KeywordEntry{"description", Keyword::text},
    KeywordEntry{"else", Keyword::schema},
    KeywordEntry{"enum", Keyword::choice},
    KeywordEntry{"examples", Keyword::text},
    KeywordEntry{"exclusiveMaximum", Keyword::ceiling},
    KeywordEntry{"exclusiveMinimum", Keyword::floor},
    KeywordEntry{"format", Keyword::constraint},
    KeywordEntry{"if", Keyword::schema},
    KeywordEntry{"items", Keyword::schema},
    KeywordEntry{"maxContains", Keyword::ceiling},
    KeywordEntry{"maxItems", Keyword::ceiling},
    KeywordEntry{"maxLength", Keyword::ceiling},
    KeywordEntry{"maxProperties", Keyword::ceiling},
    KeywordEntry{"maximum", Keyword::ceiling},
    KeywordEntry{"minContains", Keyword::floor},
    KeywordEntry{"minItems", Keyword::floor},
    KeywordEntry{"minLength", Keyword::floor},
    KeywordEntry{"minProperties", Keyword::floor},
    KeywordEntry{"minimum", Keyword::floor},
    KeywordEntry{"multipleOf", Keyword::constraint},
    KeywordEntry{"not", Keyword::schema},
    KeywordEntry{"oneOf", Keyword::alternatives},
    KeywordEntry{"pattern", Keyword::constraint},
    KeywordEntry{"patternProperties", Keyword::schemas_by_name},
    KeywordEntry{"prefixItems", Keyword::sequence},
    KeywordEntry{"properties", Keyword::properties},
    KeywordEntry{"propertyNames", Keyword::schema},
    KeywordEntry{"required", Keyword::required},
    KeywordEntry{"then", Keyword::schema},
    KeywordEntry{"title", Keyword::title},
    KeywordEntry{"type", Keyword::type},
    KeywordEntry{"unevaluatedItems", Keyword::openness},
    KeywordEntry{"unevaluatedProperties", Keyword::openness},
    KeywordEntry{"uniqueItems", Keyword::unique},
};
static_assert(std::ranges::is_sorted(kKeywords, {}, &KeywordEntry::name));

}  // namespace

Keyword keyword_of(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kKeywords, name, {}, &KeywordEntry::name);
  return found != kKeywords.end() && found->name == name ? found->keyword : Keyword::data;
}

std::optional<unsigned> types_of(const Value& type) {
  constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "integer", "number",
                                                      "string", "array",   "object"};
  constexpr unsigned kAll = 0x7F;
  if (!type) {
    return kAll;
  }
  unsigned bits = 0;
  const auto add = [&](const Value& one) {
    const auto* found = one.is(Kind::string) ? std::ranges::find(kTypes, one.string()) : kTypes.end();
    if (found == kTypes.end()) {
      return false;
    }
    bits |= 1U << static_cast<unsigned>(found - kTypes.begin());
    bits |= *found == "number" ? 1U << 2U : 0U;  // every integer is a number
    return true;
  };
  if (type.is(Kind::array)) {
    for (const Value element : type.elements()) {
      if (!add(element)) {
        return std::nullopt;
      }
    }
    return bits;
  }
  return add(type) ? std::optional(bits) : std::nullopt;
}

std::optional<double> number_of(const Value& value) {
  if (!value.is(Kind::number)) {
    return std::nullopt;
  }
  const std::string_view text = value.number_text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Value resolved(const Value& root, std::string_view reference) {
  if (reference != "#" && !reference.starts_with("#/")) {
    return {};
  }
  Value at = root;
  std::vector<std::string_view> tokens = text::split(reference, '/');
  for (std::size_t i = 1; i < tokens.size() && at; ++i) {
    std::string token;
    for (std::size_t c = 0; c < tokens[i].size(); ++c) {
      const bool escape = tokens[i][c] == '~' && c + 1 < tokens[i].size();
      token += escape ? (tokens[i][++c] == '1' ? '/' : '~') : tokens[i][c];
    }
    at = at.find(token);
  }
  return at;
}

}  // namespace cordon::catalog
