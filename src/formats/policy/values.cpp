// SPDX-License-Identifier: Apache-2.0
// Readers for single values: strings, booleans, integers, sizes, lists.

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "formats/policy/fields.hpp"

namespace cordon::formats {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// What readers of YAML 1.1 and 1.2 take a plain scalar for.
enum class Resolved : std::uint8_t { text, boolean, number };

bool is_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b')) {
    return std::ranges::all_of(text.substr(2), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '_';
    });
  }
  // Digits with at most one point and one exponent; _ is a digit separator in YAML 1.1.
  bool digit = false;
  bool point = false;
  bool exponent = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (c == '.' && !point && !exponent) {
      point = true;
    } else if ((c == 'e' || c == 'E') && digit && !exponent && i + 1 < text.size()) {
      exponent = true;
      if (text[i + 1] == '+' || text[i + 1] == '-') {
        ++i;
      }
    } else if (c != '_' || !digit) {
      return false;
    }
  }
  return digit;
}

Resolved resolve(std::string_view text) {
  constexpr std::array<std::string_view, 8> kBooleans = {"true", "false", "yes", "no", "on", "off", "y", "n"};
  if (std::ranges::find(kBooleans, text::lower_ascii(text)) != kBooleans.end()) {
    return Resolved::boolean;
  }
  const std::string lower = text::lower_ascii(text);
  const bool special = lower == ".nan" || lower == ".inf" || lower == "-.inf" || lower == "+.inf";
  return special || is_number(text) ? Resolved::number : Resolved::text;
}

// True and a fault when the number lies outside the range.
bool outside(Faults& faults, const yaml::Node& node, std::string_view what, std::uint64_t value, Range range) {
  if (value >= range.min && value <= range.max) {
    return false;
  }
  faults.add(node.position, text::cat(what, " must lie between ", range.min, " and ", range.max, ", not ", value),
             value < range.min ? "write a larger number" : "write a smaller number");
  return true;
}

std::optional<std::uint64_t> to_integer(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool multiply(std::uint64_t& value, std::uint64_t factor) {
  if (value > std::numeric_limits<std::uint64_t>::max() / factor) {
    return false;
  }
  value *= factor;
  return true;
}

struct Unit {
  std::string_view name = {};
  std::uint64_t bytes = 1;
};

constexpr std::array kUnits = {
    Unit{"KB", 1000},        Unit{"MB", 1'000'000},   Unit{"GB", 1'000'000'000},
    Unit{"KiB", 1ULL << 10}, Unit{"MiB", 1ULL << 20}, Unit{"GiB", 1ULL << 30},
};

// "1.5MiB" → bytes. Nothing when it is no size, is too large, or is no whole number of bytes.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t unit = 1;
  const auto* found = std::ranges::find_if(kUnits, [&](const Unit& u) { return text.ends_with(u.name); });
  if (found != kUnits.end()) {
    unit = found->bytes;
    text.remove_suffix(found->name.size());
  }
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
  const bool fraction_fits = point == std::string_view::npos || (unit != 1 && fraction.size() <= 6);
  if (!is_digits(whole) || !is_digits(fraction) || !fraction_fits || (whole.size() > 1 && whole.front() == '0')) {
    return std::nullopt;
  }
  auto value = to_integer(whole);
  if (!value || !multiply(*value, unit)) {
    return std::nullopt;
  }
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) {
    scale *= 10;
  }
  // At most 10^6 × 2^30.
  const std::uint64_t part = *to_integer(fraction) * unit;
  if (part % scale != 0 || *value > std::numeric_limits<std::uint64_t>::max() - part / scale) {
    return std::nullopt;
  }
  return *value + part / scale;
}

bool is_scalar(const yaml::Node& node) { return node.kind == yaml::Kind::plain || node.kind == yaml::Kind::quoted; }

}  // namespace

std::string_view kind_name(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::Kind::null:
      return "nothing";
    case yaml::Kind::plain:
      switch (resolve(node.text)) {
        case Resolved::text:
          return "a string";
        case Resolved::boolean:
          return "a boolean";
        case Resolved::number:
          return "a number";
      }
      break;
    case yaml::Kind::quoted:
      return "a string";
    case yaml::Kind::sequence:
      return "a list";
    case yaml::Kind::mapping:
      return "a mapping";
  }
  CORDON_ASSERT(false);
}

std::optional<std::string> read_text(Faults& faults, const yaml::Node& node, std::string_view what, TextRules rules) {
  if (!is_scalar(node)) {
    faults.add(node.position, text::cat(what, " must be a string, not ", kind_name(node)),
               node.kind == yaml::Kind::null
                   ? "write a value, or leave the key out; a bare ~ is nothing, \"~\" a string"
                   : "write one string");
    return std::nullopt;
  }
  if (node.kind == yaml::Kind::plain && resolve(node.text) != Resolved::text) {
    faults.add(node.position,
               text::cat(what, " must be a string, but ", quote(node.text), " without quotes is ", kind_name(node)),
               text::cat("write \"", text::printable(node.text, 80), "\""));
    return std::nullopt;
  }
  if (node.text.empty() && rules.empty == Emptiness::refused) {
    faults.add(node.position, text::cat(what, " must not be empty"), "write a value, or leave the key out");
    return std::nullopt;
  }
  // Other control characters were refused with the YAML text.
  if (rules.form == TextForm::line && node.text.find_first_of("\n\t") != std::string::npos) {
    faults.add(node.position, text::cat(what, " holds a line break or a tab: ", quote(node.text)),
               "write it on one line");
    return std::nullopt;
  }
  return node.text;
}

std::optional<bool> read_boolean(Faults& faults, const yaml::Node& node, std::string_view what) {
  if (node.kind == yaml::Kind::plain && (node.text == "true" || node.text == "false")) {
    return node.text == "true";
  }
  std::string found(kind_name(node));
  std::string remedy = "write true or false";
  if (is_scalar(node)) {
    found = text::cat(quote(node.text), node.kind == yaml::Kind::quoted ? " in quotes" : "");
    const std::string lower = text::lower_ascii(node.text);
    const bool yes = lower == "yes" || lower == "on" || lower == "y" || lower == "true" || lower == "1";
    const bool no = lower == "no" || lower == "off" || lower == "n" || lower == "false" || lower == "0";
    remedy = yes  ? "write true, without quotes and in small letters"
             : no ? "write false, without quotes and in small letters"
                  : remedy;
  }
  faults.add(node.position, text::cat(what, " must be true or false, not ", found), remedy);
  return std::nullopt;
}

std::optional<std::uint64_t> read_integer(Faults& faults, const yaml::Node& node, std::string_view what, Range range) {
  const bool leading_zero = node.text.size() > 1 && node.text.front() == '0';
  const auto value =
      node.kind == yaml::Kind::plain && is_digits(node.text) && !leading_zero ? to_integer(node.text) : std::nullopt;
  if (!value) {
    faults.add(node.position,
               text::cat(what, " must be a whole number, not ",
                         is_scalar(node) ? quote(node.text) : std::string(kind_name(node)),
                         node.kind == yaml::Kind::quoted ? " in quotes" : ""),
               text::cat("write decimal digits without quotes, from ", range.min, " to ", range.max));
    return std::nullopt;
  }
  return outside(faults, node, what, *value, range) ? std::nullopt : value;
}

std::optional<std::uint64_t> read_size(Faults& faults, const yaml::Node& node, std::string_view what, Range range) {
  const auto value = node.kind == yaml::Kind::plain ? parse_size(node.text) : std::nullopt;
  if (!value) {
    faults.add(
        node.position,
        text::cat(what, " must be a size, not ", is_scalar(node) ? quote(node.text) : std::string(kind_name(node)),
                  node.kind == yaml::Kind::quoted ? " in quotes" : ""),
        "write bytes as a whole number, or a number with KB, MB, GB, KiB, MiB or GiB right behind it, as in 10MB");
    return std::nullopt;
  }
  return outside(faults, node, what, *value, range) ? std::nullopt : value;
}

const std::vector<yaml::Node>* read_list(Faults& faults, const yaml::Node& node, std::string_view what,
                                         ListEmptiness empty) {
  if (node.kind != yaml::Kind::sequence) {
    faults.add(node.position, text::cat(what, " must be a list, not ", kind_name(node)),
               is_scalar(node) ? text::cat("write [", text::printable(node.text, 80), "]") : "write [item, item]");
    return nullptr;
  }
  if (node.items.empty() && empty == ListEmptiness::refused) {
    faults.add(node.position, text::cat(what, " must not be an empty list"), "name at least one item");
    return nullptr;
  }
  return &node.items;
}

std::optional<std::vector<std::string>> read_texts(Faults& faults, const yaml::Node& node, std::string_view what,
                                                   TextRules rules, ListEmptiness empty) {
  const auto* items = read_list(faults, node, what, empty);
  if (items == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> texts;
  texts.reserve(items->size());
  const std::string item_name = text::cat("an item of ", what);
  for (const yaml::Node& item : *items) {
    if (auto value = read_text(faults, item, item_name, rules)) {
      texts.push_back(std::move(*value));
    }
  }
  // Incomplete only when there was a fault, and then the policy is refused.
  return texts;
}

}  // namespace cordon::formats
