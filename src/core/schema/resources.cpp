// SPDX-License-Identifier: Apache-2.0
#include "core/schema/resources.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "core/schema/uri.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Member;
using json::Value;

struct Place {
  std::string_view keyword;
  Holds holds;
};

constexpr std::array kPlaces = std::to_array<Place>({
    {"additionalItems", Holds::schema},
    {"additionalProperties", Holds::schema},
    {"allOf", Holds::list},
    {"anyOf", Holds::list},
    {"contains", Holds::schema},
    {"$defs", Holds::map},
    {"definitions", Holds::map},
    {"dependencies", Holds::map_of_some},
    {"dependentSchemas", Holds::map},
    {"else", Holds::schema},
    {"if", Holds::schema},
    {"items", Holds::schema_or_list},
    {"not", Holds::schema},
    {"oneOf", Holds::list},
    {"patternProperties", Holds::map},
    {"prefixItems", Holds::list},
    {"properties", Holds::map},
    {"propertyNames", Holds::schema},
    {"then", Holds::schema},
    {"unevaluatedItems", Holds::schema},
    {"unevaluatedProperties", Holds::schema},
});

std::string text_of(const Value& schema, std::string_view keyword) {
  const Value value = schema.find(keyword);
  return value.is(Kind::string) ? value.string() : std::string();
}

}  // namespace

Holds holds(std::string_view keyword) {
  const auto found = std::ranges::find(kPlaces, keyword, &Place::keyword);
  return found == kPlaces.end() ? Holds::nothing : found->holds;
}

Resources::Resources(const Value& root, Dialect dialect) : dialect_(dialect), root_(root) {
  roots_.emplace("", root);
  scan(root, "");
}

void Resources::add(std::map<std::string, Value, std::less<>>& names, std::string name, const Value& schema) {
  const auto [place, fresh] = names.emplace(std::move(name), schema);
  if (!fresh && place->second.index() != schema.index() && error_.empty()) {
    error_ = "two schemas with one name";
  }
}

// The base of what stands in `schema`, which may have a name of its own.
std::string Resources::base_below(const Value& schema, const std::string& base) {
  const std::string id = text_of(schema, "$id");
  if (id.empty() || (dialect_ == Dialect::draft_07 && schema.find("$ref"))) {
    return base;
  }
  Reference named = schema::resolve(base, id);
  if (!named.fragment.empty()) {
    if (dialect_ != Dialect::draft_07) {
      error_ = error_.empty() ? "an $id with a fragment" : error_;
      return base;
    }
    add(anchors_, text::cat(named.uri, "#", named.fragment), schema);
    if (id.starts_with('#')) {
      return base;
    }
  }
  add(roots_, named.uri, schema);
  return std::move(named.uri);
}

void Resources::anchor(const Value& schema, const std::string& base) {
  for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
    const std::string name = text_of(schema, keyword);
    if (name.empty()) {
      continue;
    }
    add(anchors_, text::cat(base, "#", name), schema);
    if (keyword == "$dynamicAnchor") {
      dynamic_.push_back({resource_of(schema), name, schema});
    }
  }
}

void Resources::scan(const Value& schema, std::string base) {
  if (!schema.is(Kind::object) || bases_.contains(schema.index())) {
    return;
  }
  base = base_below(schema, base);
  bases_.emplace(schema.index(), base);
  if (dialect_ == Dialect::v2020_12) {
    anchor(schema, base);
  }
  for (const Member member : schema.members()) {
    const Holds form = holds(member.key.string());
    if (form == Holds::schema || form == Holds::schema_or_list) {
      scan(member.value, base);
    }
    if (form == Holds::list || form == Holds::schema_or_list) {
      for (const Value element : member.value.elements()) {
        scan(element, base);
      }
    }
    if (form == Holds::map || form == Holds::map_of_some) {
      for (const Member inner : member.value.members()) {
        scan(inner.value, base);
      }
    }
  }
}

std::size_t Resources::resource_of(const Value& schema) {
  const auto base = bases_.find(schema.index());
  const auto root = roots_.find(base == bases_.end() ? "" : base->second);
  return root == roots_.end() ? 0 : static_cast<std::size_t>(root->second.index());
}

bool Resources::is_dynamic(const Value& schema, std::string_view name) const {
  return std::ranges::any_of(dynamic_, [&](const DynamicAnchor& anchor) {
    return anchor.name == name && anchor.schema.index() == schema.index();
  });
}

Value Resources::resolve(const Value& from, std::string_view reference) {
  const auto base = bases_.find(from.index());
  const Reference meant = schema::resolve(base == bases_.end() ? "" : base->second, reference);
  const auto root = roots_.find(meant.uri);
  if (root == roots_.end()) {
    return {};
  }
  if (!meant.fragment.empty() && !meant.fragment.starts_with('/')) {
    const auto named = anchors_.find(text::cat(meant.uri, "#", meant.fragment));
    return named == anchors_.end() ? Value() : named->second;
  }
  const Value found = at_pointer(root->second, meant.fragment);
  if (found) {
    scan(found, meant.uri);  // a place that is no keyword's may hold a schema, too
  }
  return found;
}

}  // namespace cordon::schema
