// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/prose.hpp"

#include <string>

#include "core/catalog/compare.hpp"
#include "core/catalog/schema.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {
namespace {

using json::Kind;
using json::Value;

bool is_prose(Position position, std::string_view key, const Value& value) {
  switch (position) {
    case Position::tool:
    case Position::annotations:
      return value.is(Kind::string) && (key == "description" || key == "title");
    case Position::schema_root:
    case Position::schema:
      return (value.is(Kind::string) && (key == "description" || key == "title" || key == "$comment")) ||
             (value.is(Kind::array) && key == "examples");
    case Position::execution:
    case Position::schema_map:
    case Position::schema_list:
    case Position::data:
      return false;
  }
  return false;
}

void write_rest(json::Writer& w, Position position, const Value& value) {
  if (value.is(Kind::object) && position != Position::data) {
    w.begin_object();
    for (const json::Member member : value.members()) {
      const std::string key = member.key.string();
      if (!is_prose(position, key, member.value)) {
        w.key(key);
        write_rest(w, member_position(position, key, member.value), member.value);
      }
    }
    w.end_object();
  } else if (value.is(Kind::array) && position != Position::data) {
    w.begin_array();
    for (const Value element : value.elements()) {
      write_rest(w, element_position(position, element), element);
    }
    w.end_array();
  } else {
    w.value(value);
  }
}

std::string without_prose(std::string_view definition) {
  const auto document = json::read(std::string(definition), {.max_bytes = 1'000'000'000, .max_depth = 512});
  if (!document || !document->root().is(Kind::object)) {
    return std::string(definition);
  }
  json::Writer w;
  write_rest(w, Position::tool, document->root());
  return w.take();
}

}  // namespace

bool differs_in_prose_only(std::string_view pinned_definition, std::string_view live_definition) {
  return relate(without_prose(pinned_definition), without_prose(live_definition)) != Relation::changed;
}

}  // namespace cordon::catalog
