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

bool Value::boolean() const {
  CORDON_ASSERT(is(Kind::boolean));
  return node().length == 4;
}

std::string_view Value::number_text() const {
  CORDON_ASSERT(is(Kind::number));
  return raw();
}

std::string Value::string() const {
  const std::string_view raw_text = string_raw();
  return (node().flags & detail::kEscaped) == 0 ? std::string(raw_text) : unescape(raw_text);
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

std::string Document::take_text() && {
  std::string text = std::move(tape_->text);
  tape_.reset();
  return text;
}

}  // namespace cordon::json
