// SPDX-License-Identifier: Apache-2.0
#pragma once
// A JSON number by its spelling: compared digit by digit, never through a floating-point type.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::schema {

// 0.DIGITS × 10^exponent; no digits for zero, and no zero at either end of them.
struct Decimal {
  bool negative = false;
  std::string digits = {};
  std::int64_t exponent = 0;
  bool beyond = false;  // an exponent that nobody can hold; the value means nothing then
};

// `text` obeys the grammar of JSON.
Decimal decimal(std::string_view text);

std::strong_ordering compare(const Decimal& left, const Decimal& right);
bool is_integer(const Decimal& number);
// The number as a count: an integer from 0 to 2^53.
std::optional<std::uint64_t> count_of(const Decimal& number);
// The one spelling of the value.
std::string spelling(const Decimal& number);

// A divisor that multiple_of() can take: positive, at most 2^32 without its power of ten.
bool is_divisor(const Decimal& number);
bool multiple_of(const Decimal& number, const Decimal& divisor);

// True when readers that keep a double and readers that keep every digit see the same value, and see it differ from
// every other number for which this is true: integers within ±2^53, and what has at most 15 digits.
bool reads_alike(const Decimal& number);

}  // namespace cordon::schema
