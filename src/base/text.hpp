// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text helpers: joining, UTF-8, spelling distance, and the one way to show untrusted text to a person.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::text {

inline void append_one(std::string& out, std::string_view piece) { out += piece; }
inline void append_one(std::string& out, const char* piece) { out += piece; }
inline void append_one(std::string& out, char piece) { out += piece; }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void append_one(std::string& out, T number) {
  out += std::to_string(number);
}

// Joins views, characters and integers into one string.
template <typename... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (append_one(out, pieces), ...);
  return out;
}

std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string_view> split(std::string_view text, char separator);

// One decoded code point. `length` is 1…4 bytes; 0 means that the bytes at `offset` are not valid UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
CodePoint decode_utf8(std::string_view text, std::size_t offset);
void append_utf8(std::string& out, char32_t code_point);
bool valid_utf8(std::string_view text);

// Untrusted text for a terminal or a log line: printable ASCII and letters of other scripts stay, everything else
// (controls, newlines, bidi, invisible, invalid bytes, a backslash) becomes \n, \t, \\, \xHH or \u{HEX}.
// At most `max_bytes` of output, then "…".
std::string printable(std::string_view untrusted, std::size_t max_bytes = 4096);

// True for letters, marks and digits of the Unicode general categories L*, M* and Nd that are neither invisible nor
// default-ignorable. Source: RE2's tables are not used here; the ranges are a conservative subset (letters.cpp).
bool is_visible_letter(char32_t code_point);

// The candidate nearest to `word` by edit distance, when the distance is at most a third of the word; for
// "(did you mean 'allow'?)".
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

std::string lower_ascii(std::string_view text);

// Folds like a case-insensitive reader would: ASCII letters, U+017F (long s) and U+212A (Kelvin sign), the only code
// points outside ASCII that Unicode simple folding maps to ASCII.
std::string fold_to_ascii(std::string_view text);

}  // namespace cordon::text
