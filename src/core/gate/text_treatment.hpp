// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a person does not see in a text, and what a terminal would obey: found, and taken out when asked.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::gate {

// What the raw text of a JSON string, or of a whole message, could hold. Fast; errs on the side of yes.
struct Glance {
  bool worth_a_look = false;  // what the functions below look for, or a line that begins with our name
  bool spelled = false;       // letters in another spelling (\uXXXX, \/); not told where it is worth a look
};
Glance glance_at(std::string_view raw_json);
inline bool worth_a_look(std::string_view raw_json) { return glance_at(raw_json).worth_a_look; }

// `text` without its control characters (all but U+0000, tab, line feed, carriage return and form feed) and the escape
// sequences that some of them begin; `found` grows by the number of what was taken out.
std::string without_terminal_escapes(std::string_view text, std::size_t& found);

// `text` without characters that nobody sees: zero width, bidirectional controls, tags, fillers, variation selectors
// beyond the one that a character may have. Those that writing needs are left: joiners inside of words of other
// scripts and of emoji, marks beside letters that run from right to left, flags.
std::string without_hidden_text(std::string_view text, std::size_t& found);

// A text as whoever does not get what is hidden in it puts it together, and where its bytes come from.
struct Seen {
  struct Cut {
    std::size_t seen = 0;    // offset in `text`, before which something was left out
    std::size_t origin = 0;  // what follows stands here in the original
  };
  std::string text = {};
  std::vector<Cut> cuts = {};

  std::size_t origin(std::size_t offset) const;
};
enum class Drop : bool {
  characters,  // every hidden and control character, save tab and line ends
  sequences,   // those, and the escape sequences that some of them begin
};
Seen seen_text(std::string_view text, Drop drop);

}  // namespace cordon::gate
