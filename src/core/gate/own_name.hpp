// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our own name, as a person would read it: what a server writes must not be taken for a word of ours.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cordon::gate {

// The lower-case ASCII letter that a person would read, 0 for what is none.
char read_as(char32_t c);

// The four digits of \uXXXX.
std::optional<char32_t> escaped_unit(std::string_view digits);

// Does a text name mcp-cordon, however it is spaced, accented or spelled with letters that look alike?
bool names_us(std::string_view text);

// Does a text begin with our name, behind blanks, brackets and the like? Of the raw text of a JSON string it errs on
// the side of yes.
enum class Spelling : std::uint8_t { decoded, raw_json };
bool begins_as_us_at_length(std::string_view text, Spelling spelling);
inline bool begins_as_us(std::string_view text, Spelling spelling) {
  // Most lines begin with another letter.
  const auto small = text.empty() ? '\0' : static_cast<char>(text.front() | 0x20);
  return (small < 'a' || small > 'z' || small == 'm') && begins_as_us_at_length(text, spelling);
}

// How many lines begin so.
std::size_t lines_as_us(std::string_view text);

}  // namespace cordon::gate
