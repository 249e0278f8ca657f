// SPDX-License-Identifier: Apache-2.0
#pragma once
// String escapes, checked once by the reader and decoded on demand.

#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::json {

// Result of looking at one escape sequence, which begins with a backslash at text[0].
struct Escape {
  std::size_t length = 0;  // bytes of text consumed (2, 6 or 12); 0: not a valid escape
  char32_t value = 0;      // decoded code point; a lone surrogate as its own value
  bool lone_surrogate = false;
};
Escape read_escape(std::string_view text);

// Decodes the inside of a string that the reader has accepted. A lone surrogate becomes the three bytes that UTF-8
// would give it, so that decoding is injective; quoted() writes those bytes back as \uXXXX.
std::string unescape(std::string_view raw);

}  // namespace cordon::json
