// SPDX-License-Identifier: Apache-2.0
#include "core/gate/own_name.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.hpp"

namespace cordon::gate {
namespace {

constexpr std::string_view kName = "mcpcordon";

struct Lookalike {
  char32_t first = 0;
  char32_t last = 0;
  char letter = 0;
};

// Letters that can stand for one of "mcpcordon". Only this one word is looked for, so the table is short.
constexpr std::array kLookalikes = std::to_array<Lookalike>({
    {0xC7, 0xC7, 'c'},     {0xD1, 0xD1, 'n'},     {0xD2, 0xD6, 'o'},     {0xD8, 0xD8, 'o'},     {0xE7, 0xE7, 'c'},
    {0xF1, 0xF1, 'n'},     {0xF2, 0xF6, 'o'},     {0xF8, 0xF8, 'o'},     {0x106, 0x10D, 'c'},   {0x10E, 0x111, 'd'},
    {0x143, 0x14B, 'n'},   {0x14C, 0x151, 'o'},   {0x154, 0x159, 'r'},   {0x187, 0x188, 'c'},   {0x1A0, 0x1A1, 'o'},
    {0x271, 0x271, 'm'},   {0x2B3, 0x2B3, 'r'},   {0x280, 0x280, 'r'},   {0x274, 0x274, 'n'},   {0x39C, 0x39C, 'm'},
    {0x39D, 0x39D, 'n'},   {0x39F, 0x39F, 'o'},   {0x3A1, 0x3A1, 'p'},   {0x3BF, 0x3BF, 'o'},   {0x3C1, 0x3C1, 'p'},
    {0x3C3, 0x3C3, 'o'},   {0x3F2, 0x3F2, 'c'},   {0x3F9, 0x3F9, 'c'},   {0x41C, 0x41C, 'm'},   {0x41E, 0x41E, 'o'},
    {0x420, 0x420, 'p'},   {0x421, 0x421, 'c'},   {0x433, 0x433, 'r'},   {0x43C, 0x43C, 'm'},   {0x43E, 0x43E, 'o'},
    {0x43F, 0x43F, 'n'},   {0x440, 0x440, 'p'},   {0x441, 0x441, 'c'},   {0x501, 0x501, 'd'},   {0x555, 0x555, 'o'},
    {0x585, 0x585, 'o'},   {0x1D04, 0x1D04, 'c'}, {0x1D05, 0x1D05, 'd'}, {0x1D0D, 0x1D0D, 'm'}, {0x1D0F, 0x1D0F, 'o'},
    {0x1D18, 0x1D18, 'p'}, {0x1D48, 0x1D48, 'd'}, {0x1D50, 0x1D50, 'm'}, {0x1D52, 0x1D52, 'o'}, {0x1D56, 0x1D56, 'p'},
    {0x1D63, 0x1D63, 'r'}, {0x1D9C, 0x1D9C, 'c'}, {0x207F, 0x207F, 'n'}, {0x2092, 0x2092, 'o'}, {0x2098, 0x2098, 'm'},
    {0x2099, 0x2099, 'n'}, {0x209A, 0x209A, 'p'}, {0x2102, 0x2102, 'c'}, {0x2115, 0x2115, 'n'}, {0x2119, 0x2119, 'p'},
    {0x211B, 0x211D, 'r'}, {0x212D, 0x212D, 'c'}, {0x2133, 0x2133, 'm'}, {0x2134, 0x2134, 'o'}, {0x2145, 0x2146, 'd'},
    {0x216D, 0x216D, 'c'}, {0x216E, 0x216E, 'd'}, {0x216F, 0x216F, 'm'}, {0x217D, 0x217D, 'c'}, {0x217E, 0x217E, 'd'},
    {0x217F, 0x217F, 'm'},
});

char nth_letter(char32_t offset) { return static_cast<char>('a' + static_cast<int>(offset % 26)); }

// One step through a text: what stands here, and how long it is. Nothing: it cannot be told without decoding.
struct Step {
  char32_t point = 0;
  std::size_t length = 1;
};

std::optional<Step> step_at(std::string_view text, std::size_t at, Spelling spelling) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0x80) {
    const text::CodePoint here = text::decode_utf8(text, at);
    return Step{here.value, std::max<std::size_t>(here.length, 1)};
  }
  if (byte != '\\' || spelling == Spelling::decoded) {
    return Step{byte, 1};
  }
  if (at + 1 < text.size() && text[at + 1] != 'u') {
    return Step{U' ', 2};
  }
  const std::optional<char32_t> unit = escaped_unit(text.substr(std::min(at + 2, text.size()), 4));
  // Halves of pairs with letters in them: mathematical, in squares.
  const bool unclear = !unit || *unit == 0xD835 || *unit == 0xD83C;
  return unclear ? std::nullopt : std::optional(Step{*unit, 6});
}

bool ends_line(char32_t c) { return (c >= U'\n' && c <= U'\r') || c == 0x85 || c == 0x2028 || c == 0x2029; }

// What one byte says of a line that begins with it, or with blanks and it.
enum class First : std::uint8_t { blank, other, look };

constexpr std::array<First, 256> kFirst = [] {
  std::array<First, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool look = c == 'm' || c == 'M' || c == '\\' || c == '\n' || c >= 0x80;
    table.at(c) = look ? First::look : letter ? First::other : First::blank;
  }
  return table;
}();

}  // namespace

char read_as(char32_t c) {
  if ((c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z')) {
    return static_cast<char>(c | 0x20U);
  }
  if (c < 0x80) {
    return c == U'0' ? 'o' : '\0';
  }
  if ((c >= 0xFF21 && c <= 0xFF3A) || (c >= 0xFF41 && c <= 0xFF5A)) {  // full width
    return nth_letter(c >= 0xFF41 ? c - 0xFF41 : c - 0xFF21);
  }
  if (c >= 0x24B6 && c <= 0x24E9) {  // in circles
    return nth_letter(c - 0x24B6);
  }
  if (c >= 0x1D400 && c <= 0x1D6A3) {  // mathematical alphabets, capitals and small letters in turn
    return nth_letter(c - 0x1D400);
  }
  // In squares, in dark circles, in dark squares, and those that make up flags.
  for (const char32_t first : {0x1F130U, 0x1F150U, 0x1F170U, 0x1F1E6U}) {
    if (c >= first && c < first + 26) {
      return nth_letter(c - first);
    }
  }
  for (const Lookalike& one : kLookalikes) {
    if (c >= one.first && c <= one.last) {
      return one.letter;
    }
  }
  return 0;
}

std::optional<char32_t> escaped_unit(std::string_view digits) {
  char32_t unit = 0;
  for (const char c : digits) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c | 0x20) : c;
    const bool letter = lower >= 'a' && lower <= 'f';
    if (!letter && (lower < '0' || lower > '9')) {
      return std::nullopt;
    }
    unit = unit * 16 + static_cast<char32_t>(letter ? lower - 'a' + 10 : lower - '0');
  }
  return digits.size() == 4 ? std::optional(unit) : std::nullopt;
}

bool names_us(std::string_view text) {
  std::string letters;
  for (std::size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(text, i);
    if (const char letter = read_as(point.value); letter != 0) {
      letters += letter;
    }
    i += std::max<std::size_t>(point.length, 1);
  }
  return letters.find(kName) != std::string::npos;
}

bool begins_as_us_at_length(std::string_view text, Spelling spelling) {
  constexpr std::size_t kMostBetween = 64;  // blanks, brackets, pictures
  std::size_t between = 0;
  for (; between < text.size() && between <= kMostBetween; ++between) {
    const First first = kFirst[static_cast<unsigned char>(text[between])];
    if (first == First::other) {
      return false;
    }
    if (first == First::look) {
      break;
    }
  }
  std::size_t fits = 0;
  for (std::size_t at = between; at < text.size() && between <= kMostBetween;) {
    const std::optional<Step> step = step_at(text, at, spelling);
    if (!step) {
      return true;
    }
    if (spelling == Spelling::decoded && fits == 0 && ends_line(step->point)) {
      return false;  // the next line is looked at by itself
    }
    const char letter = read_as(step->point);
    if (letter == kName[fits]) {
      if (++fits == kName.size()) {
        return true;
      }
    } else if (letter != 0 || (step->point >= U'1' && step->point <= U'9') ||
               (step->point >= 0x80 && text::is_visible_letter(step->point))) {
      return false;
    } else {
      ++between;
    }
    at += step->length;
  }
  return false;
}

std::size_t lines_as_us(std::string_view text) {
  std::size_t found = begins_as_us(text, Spelling::decoded) ? 1 : 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view rest = text.substr(at, 3);
    const bool ascii = c >= '\n' && c <= '\r';
    const bool other = rest.starts_with("\xC2\x85") || rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9";
    if (!ascii && !other) {
      continue;
    }
    at += ascii ? 0 : (c == '\xC2' ? 1 : 2);
    // Of several line ends in a row the last begins the line.
    const bool last = at + 1 < text.size() && text[at + 1] != '\n' && text[at + 1] != '\r';
    found += last && begins_as_us(text.substr(at + 1), Spelling::decoded) ? 1U : 0U;
  }
  return found;
}

}  // namespace cordon::gate
