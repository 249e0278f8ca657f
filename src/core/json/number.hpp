// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers compared by their spelling: what is decided about a number must not hang on how a reader rounds it.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::json {

// A decimal: 0.DIGITS × 10^exponent, without zeros at either end of the digits; zero has none.
struct Decimal {
  bool negative = false;
  std::string digits = {};
  std::int64_t exponent = 0;
  bool operator==(const Decimal&) const = default;
};

// The number as JSON spells it. Nothing when its exponent is beyond all use (more than 9 digits).
std::optional<Decimal> decimal(std::string_view spelling);
Decimal decimal(std::int64_t number);
std::strong_ordering compare(const Decimal& left, const Decimal& right);

// Does every reader take it for the same number? An integer within ±2^53; or a fraction within that range of at most 15
// significant digits, which a double keeps, so that no comparison with another such number can turn out differently.
bool same_everywhere(const Decimal& number);

}  // namespace cordon::json
