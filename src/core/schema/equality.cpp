// SPDX-License-Identifier: Apache-2.0
#include "core/schema/equality.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/json/write.hpp"
#include "core/schema/decimal.hpp"

namespace cordon::schema {
namespace {

using json::Kind;
using json::Value;

void append(Key& key, const Value& value);

void append_members(Key& key, const Value& object) {
  std::vector<std::pair<std::string, Value>> members;
  for (const json::Member member : object.members()) {
    members.emplace_back(member.key.string(), member.value);
  }
  std::ranges::sort(members, {}, [](const auto& member) -> const std::string& { return member.first; });
  key.text += '{';
  for (const auto& [name, value] : members) {
    key.text += json::quoted(name);
    append(key, value);
  }
  key.text += '}';
}

void append(Key& key, const Value& value) {
  switch (value.kind()) {
    case Kind::null:
      key.text += 'n';
      return;
    case Kind::boolean:
      key.text += value.boolean() ? 't' : 'f';
      return;
    case Kind::number: {
      const Decimal number = decimal(value.number_text());
      key.ambiguous = key.ambiguous || !reads_alike(number);
      key.text += '#' + spelling(number) + ';';
      return;
    }
    case Kind::string:
      key.ambiguous = key.ambiguous || is_ambiguous_text(value);
      key.text += json::quoted(value.string());
      return;
    case Kind::array:
      key.text += '[';
      for (const Value element : value.elements()) {
        append(key, element);
      }
      key.text += ']';
      return;
    case Kind::object:
      append_members(key, value);
      return;
  }
}

}  // namespace

Key key_of(const Value& value) {
  Key key;
  append(key, value);
  return key;
}

bool is_ambiguous_text(const Value& string) { return string.has_lone_surrogate() || string.has_nul(); }

}  // namespace cordon::schema
