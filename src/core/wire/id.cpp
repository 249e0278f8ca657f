// SPDX-License-Identifier: Apache-2.0
#include "core/wire/id.hpp"

#include "core/json/write.hpp"

namespace cordon::wire {

std::string_view Id::text() const {
  const auto* text = std::get_if<std::string>(&value_);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::string Id::json() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) {
    return std::to_string(*number);
  }
  return json::quoted(std::get<std::string>(value_));
}

Result<Id> read_id(const json::Value& value) {
  if (value.is(json::Kind::number)) {
    const auto number = value.safe_integer();
    if (!number) {
      return fail(Errc::message_ambiguous, "the id is no integer that every reader reads alike");
    }
    return Id(*number);
  }
  if (!value.is(json::Kind::string)) {
    return fail(Errc::message_malformed, "the id is neither a string nor an integer");
  }
  if (value.has_lone_surrogate() || value.has_nul()) {
    return fail(Errc::message_ambiguous, "the id holds a lone surrogate or U+0000");
  }
  if (value.string_raw().size() > kMaxIdBytes) {
    return fail(Errc::message_too_large, "the id is longer than 4096 bytes");
  }
  return Id(value.string());
}

}  // namespace cordon::wire
