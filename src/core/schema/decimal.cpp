// SPDX-License-Identifier: Apache-2.0
#include "core/schema/decimal.hpp"

#include <algorithm>
#include <cstddef>

namespace cordon::schema {
namespace {

constexpr std::int64_t kMaxExponent = 1'000'000'000'000'000;
constexpr std::uint64_t kMaxDivisor = 0xFFFF'FFFF;  // a remainder times ten fits 64 bits, and so do products of two

std::strong_ordering compare_magnitude(const Decimal& left, const Decimal& right) {
  if (left.digits.empty() || right.digits.empty()) {
    return left.digits.size() <=> right.digits.size();
  }
  if (left.exponent != right.exponent) {
    return left.exponent <=> right.exponent;
  }
  return left.digits.compare(right.digits) <=> 0;
}

std::uint64_t power_of_ten_modulo(std::int64_t power, std::uint64_t modulus) {
  std::uint64_t result = 1 % modulus;
  std::uint64_t base = 10 % modulus;
  for (; power > 0; power /= 2) {
    if (power % 2 != 0) {
      result = result * base % modulus;
    }
    base = base * base % modulus;
  }
  return result;
}

std::int64_t last_place(const Decimal& number) {
  return number.exponent - static_cast<std::int64_t>(number.digits.size());
}

}  // namespace

Decimal decimal(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    number.negative = true;
    ++at;
  }
  std::int64_t point = 0;
  bool fraction = false;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    number.digits += text[at];
    point += fraction ? 0 : 1;
  }
  std::int64_t power = 0;
  if (at < text.size()) {
    ++at;
    const bool minus = text[at] == '-';
    if (minus || text[at] == '+') {
      ++at;
    }
    for (; at < text.size(); ++at) {
      power = std::min(power * 10 + (text[at] - '0'), kMaxExponent);
    }
    number.beyond = power == kMaxExponent;
    power = minus ? -power : power;
  }
  const std::size_t first = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.exponent = power + point - static_cast<std::int64_t>(first);
  number.digits.erase(0, first);
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  if (number.digits.empty()) {
    return {};
  }
  return number;
}

std::strong_ordering compare(const Decimal& left, const Decimal& right) {
  if (left.negative != right.negative) {
    return left.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return left.negative ? compare_magnitude(right, left) : compare_magnitude(left, right);
}

bool is_integer(const Decimal& number) { return number.digits.empty() || last_place(number) >= 0; }

std::optional<std::uint64_t> count_of(const Decimal& number) {
  if (number.beyond || number.negative || !is_integer(number) || number.exponent > 15) {
    return std::nullopt;
  }
  std::uint64_t count = 0;
  for (const char digit : number.digits) {
    count = count * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  for (std::int64_t zeros = number.digits.empty() ? 0 : last_place(number); zeros > 0; --zeros) {
    count *= 10;
  }
  return count;
}

std::string spelling(const Decimal& number) {
  return (number.negative ? "-" : "") + number.digits + "e" + std::to_string(number.exponent);
}

bool is_divisor(const Decimal& number) {
  return !number.beyond && !number.negative && !number.digits.empty() && number.digits.size() <= 10 &&
         std::stoull(number.digits) <= kMaxDivisor;
}

bool multiple_of(const Decimal& number, const Decimal& divisor) {
  if (number.digits.empty()) {
    return true;
  }
  const std::int64_t shift = last_place(number) - last_place(divisor);
  if (shift < 0) {
    return false;  // the last digit is not zero, so no power of ten goes into it
  }
  const std::uint64_t modulus = std::stoull(divisor.digits);
  std::uint64_t rest = 0;
  for (const char digit : number.digits) {
    rest = (rest * 10 + static_cast<std::uint64_t>(digit - '0')) % modulus;
  }
  return rest * power_of_ten_modulo(shift, modulus) % modulus == 0;
}

bool reads_alike(const Decimal& number) {
  if (number.beyond) {
    return false;
  }
  static constexpr std::int64_t kLeastExponent = -290;  // below lie numbers that lose digits again
  static constexpr std::int64_t kDigitsKept = 15;
  const Decimal most{number.negative, "9007199254740992", 16, false};
  const bool within = number.negative ? compare(number, most) >= 0 : compare(number, most) <= 0;
  return within && (is_integer(number) || (static_cast<std::int64_t>(number.digits.size()) <= kDigitsKept &&
                                           number.exponent > kLeastExponent));
}

}  // namespace cordon::schema
