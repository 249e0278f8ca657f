// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one table of characters that a reader does not see, or that move what he sees. Whoever looks for them picks the
// classes that matter to him.

#include <cstdint>

namespace cordon::text {

enum class Hidden : std::uint8_t {
  none,
  control,        // C0, DEL and C1, tab and line ends among them
  invisible,      // without width or ink
  joiner,         // U+200C, U+200D: some scripts and emoji need them
  mark,           // U+061C, U+200E, U+200F: a direction, for the character beside
  bidirectional,  // embeddings, overrides, isolates
  tag,            // U+E0000 … U+E007F: ASCII that nobody sees
  variation,      // selectors of how the character before is drawn
  separator,      // U+2028, U+2029
};

// Default-ignorable code points, fillers and controls of the Unicode character database; whole blocks, so that nothing
// new slips through.
Hidden hidden_class(char32_t code_point);

}  // namespace cordon::text
