// SPDX-License-Identifier: Apache-2.0
// Which code points outside ASCII may be shown raw. A conservative subset of Unicode's letters: a letter that is
// missing here is shown escaped, which is harmless; an invisible or direction-changing one must never be in it.
#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cordon::text {
namespace {

struct Range {
  char32_t first = 0;
  char32_t last = 0;
};

// Sorted. Leaves out U+00AD, U+034F, U+061C, U+115F, U+1160, U+17B4, U+17B5, U+180B-F, U+200B-F, U+202A-E, U+2060-F,
// U+3164, U+FE00-F, U+FEFF, U+FFA0, U+E0000-: invisible, default-ignorable or direction marks. Combining marks are
// left out as well, since they can be stacked without limit.
constexpr std::array kLetters = std::to_array<Range>({
    {0x00AA, 0x00AA}, {0x00B5, 0x00B5}, {0x00BA, 0x00BA}, {0x00C0, 0x00D6}, {0x00D8, 0x00F6}, {0x00F8, 0x02AF},
    {0x0370, 0x0373}, {0x0376, 0x0377}, {0x037B, 0x037D}, {0x0386, 0x0386}, {0x0388, 0x038A}, {0x038C, 0x038C},
    {0x038E, 0x03A1}, {0x03A3, 0x03F5}, {0x03F7, 0x0481}, {0x048A, 0x052F}, {0x0531, 0x0556}, {0x0561, 0x0587},
    {0x05D0, 0x05EA}, {0x0620, 0x064A}, {0x0671, 0x06D3}, {0x0904, 0x0939}, {0x0985, 0x098C}, {0x0993, 0x09A8},
    {0x0E01, 0x0E30}, {0x0E40, 0x0E45}, {0x10A0, 0x10C5}, {0x10D0, 0x10FA}, {0x1E00, 0x1EFF}, {0x1F00, 0x1F15},
    {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x3105, 0x312F}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3},
    {0xF900, 0xFA6D},
});

}  // namespace

bool is_visible_letter(char32_t code_point) {
  const auto* after = std::upper_bound(kLetters.begin(), kLetters.end(), code_point,
                                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != kLetters.begin() && code_point <= (after - 1)->last;
}

}  // namespace cordon::text
