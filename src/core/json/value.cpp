// SPDX-License-Identifier: Apache-2.0
#include "core/json/value.hpp"

#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "core/json/unescape.hpp"

namespace cordon::json {

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "boolean";
    case Kind::number:
      return "number";
    case Kind::string:
      return "string";
    case Kind::array:
      return "array";
    case Kind::object:
      return "object";
  }
  CORDON_ASSERT(false);
}

std::string_view Value::raw() const {
  CORDON_ASSERT(tape_ != nullptr);
  const detail::Node& n = node();
  const std::string_view text = tape_->text;
  return n.kind == Kind::string ? text.substr(n.begin - 1, n.length + 2) : text.substr(n.begin, n.length);
}

bool Value::boolean() const {
  CORDON_ASSERT(is(Kind::boolean));
  return node().length == 4;
}

std::string_view Value::number_text() const {
  CORDON_ASSERT(is(Kind::number));
  return raw();
}

std::string_view Value::string_raw() const {
  CORDON_ASSERT(is(Kind::string));
  return std::string_view(tape_->text).substr(node().begin, node().length);
}

std::string Value::string() const {
  const std::string_view raw_text = string_raw();
  return (node().flags & detail::kEscaped) == 0 ? std::string(raw_text) : unescape(raw_text);
}

bool Value::string_equals(std::string_view decoded) const {
  const std::string_view raw_text = string_raw();
  return (node().flags & detail::kEscaped) == 0 ? raw_text == decoded : unescape(raw_text) == decoded;
}

bool Value::has_lone_surrogate() const { return is(Kind::string) && (node().flags & detail::kLoneSurrogate) != 0; }

bool Value::has_nul() const { return is(Kind::string) && (node().flags & detail::kNul) != 0; }

std::optional<std::int64_t> Value::safe_integer() const {
  if (!is(Kind::number)) {
    return std::nullopt;
  }
  constexpr std::int64_t kLimit = (std::int64_t{1} << 53) - 1;
  const std::string_view digits = raw();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits == "-0" || number > kLimit ||
      number < -kLimit) {
    return std::nullopt;
  }
  return number;
}

Value Value::find(std::string_view key) const {
  for (const Member member : members()) {
    if (member.key.string_equals(key)) {
      return member.value;
    }
  }
  return {};
}

Value Value::at(std::size_t element) const {
  for (const Value value : elements()) {
    if (element-- == 0) {
      return value;
    }
  }
  return {};
}

std::size_t Value::size() const {
  std::size_t count = 0;
  for ([[maybe_unused]] const Member member : members()) {
    ++count;
  }
  for ([[maybe_unused]] const Value element : elements()) {
    ++count;
  }
  return count;
}

Members Value::members() const {
  if (!is(Kind::object)) {
    return {nullptr, 0, 0};
  }
  return {tape_, index_ + 1, node().next};
}

Elements Value::elements() const {
  if (!is(Kind::array)) {
    return {nullptr, 0, 0};
  }
  return {tape_, index_ + 1, node().next};
}

std::string Document::take_text() && {
  std::string text = std::move(tape_->text);
  tape_.reset();
  return text;
}

}  // namespace cordon::json
