// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/wire: from bytes to JSON-RPC messages of MCP, strictly, and back to lines of our own.
// Must not: decide whether a message may pass (gate does). Start reading at message.hpp.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "core/json/value.hpp"

namespace cordon::wire {

// A JSON-RPC id by type and value: 1 and "1" differ, "a" and "\u0061" do not.
class Id {
 public:
  explicit Id(std::int64_t number) : value_(number) {}
  explicit Id(std::string text) : value_(std::move(text)) {}

  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  // The decoded text; empty for numbers.
  std::string_view text() const;
  // As JSON.
  std::string json() const;
  auto operator<=>(const Id&) const = default;

 private:
  std::variant<std::int64_t, std::string> value_;
};

inline constexpr std::size_t kMaxIdBytes = 4096;

// message_malformed for null and other kinds, message_ambiguous for numbers that readers round or spell differently
// (1.0, 1e2, -0, beyond ±2^53) and for strings with a lone surrogate or U+0000.
Result<Id> read_id(const json::Value& value);

}  // namespace cordon::wire
