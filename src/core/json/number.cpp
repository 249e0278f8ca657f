// SPDX-License-Identifier: Apache-2.0
#include "core/json/number.hpp"

#include <algorithm>
#include <charconv>

namespace cordon::json {
namespace {

constexpr std::size_t kExponentDigits = 9;
constexpr std::size_t kDoubleDigits = 15;
constexpr std::int64_t kSmallestExponent = -300;  // below lie the doubles with fewer digits

bool is_integer(const Decimal& number) { return number.exponent >= static_cast<std::int64_t>(number.digits.size()); }

std::strong_ordering compare_sizes(const Decimal& left, const Decimal& right) {
  if (left.digits.empty() || right.digits.empty()) {
    return left.digits.size() <=> right.digits.size();
  }
  if (left.exponent != right.exponent) {
    return left.exponent <=> right.exponent;
  }
  // Digits of equal weight come first, and the longer one goes on with something.
  return left.digits.compare(right.digits) <=> 0;
}

}  // namespace

std::optional<Decimal> decimal(std::string_view spelling) {
  Decimal out;
  if (spelling.starts_with('-')) {
    out.negative = true;
    spelling.remove_prefix(1);
  }
  const std::size_t mark = spelling.find_first_of("eE");
  if (mark != std::string_view::npos) {
    std::string_view exponent = spelling.substr(mark + 1);
    if (exponent.starts_with('+')) {
      exponent.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
    if (error != std::errc() || end != exponent.data() + exponent.size() ||
        exponent.size() > kExponentDigits + (exponent.starts_with('-') ? 1 : 0)) {
      return std::nullopt;
    }
  }
  const std::string_view mantissa = spelling.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  out.digits = std::string(mantissa.substr(0, point));
  out.exponent += static_cast<std::int64_t>(point);
  if (point < mantissa.size()) {
    out.digits += mantissa.substr(point + 1);
  }
  const std::size_t first = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, first);
  out.exponent -= static_cast<std::int64_t>(first);
  out.digits.erase(out.digits.find_last_not_of('0') + 1);
  if (out.digits.empty()) {
    return Decimal{};
  }
  return out;
}

Decimal decimal(std::int64_t number) { return decimal(std::to_string(number)).value_or(Decimal{}); }

std::strong_ordering compare(const Decimal& left, const Decimal& right) {
  if (left.negative != right.negative) {
    return left.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return left.negative ? compare_sizes(right, left) : compare_sizes(left, right);
}

bool same_everywhere(const Decimal& number) {
  const Decimal most = decimal(std::int64_t{1} << 53);
  if (compare_sizes(number, most) > 0) {
    return false;
  }
  return number.digits.empty() || is_integer(number) ||
         (number.digits.size() <= kDoubleDigits && number.exponent > kSmallestExponent);
}

}  // namespace cordon::json
