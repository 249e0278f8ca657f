// SPDX-License-Identifier: Apache-2.0
#include "base/hidden.hpp"

#include <algorithm>
#include <array>

namespace cordon::text {
namespace {

struct Range {
  char32_t first = 0;
  char32_t last = 0;
  Hidden what = Hidden::none;
};

// Sorted.
constexpr std::array kHidden = std::to_array<Range>({
    {0x0000, 0x001F, Hidden::control},       {0x007F, 0x009F, Hidden::control},
    {0x00AD, 0x00AD, Hidden::invisible},     {0x034F, 0x034F, Hidden::invisible},
    {0x061C, 0x061C, Hidden::mark},          {0x115F, 0x1160, Hidden::invisible},
    {0x17B4, 0x17B5, Hidden::invisible},     {0x180B, 0x180D, Hidden::variation},
    {0x180E, 0x180E, Hidden::invisible},     {0x180F, 0x180F, Hidden::variation},
    {0x200B, 0x200B, Hidden::invisible},     {0x200C, 0x200D, Hidden::joiner},
    {0x200E, 0x200F, Hidden::mark},          {0x2028, 0x2029, Hidden::separator},
    {0x202A, 0x202E, Hidden::bidirectional}, {0x2060, 0x2065, Hidden::invisible},
    {0x2066, 0x2069, Hidden::bidirectional}, {0x206A, 0x206F, Hidden::invisible},
    {0x3164, 0x3164, Hidden::invisible},     {0xFE00, 0xFE0F, Hidden::variation},
    {0xFEFF, 0xFEFF, Hidden::invisible},     {0xFFA0, 0xFFA0, Hidden::invisible},
    {0xFFF0, 0xFFFB, Hidden::invisible},     {0x1BCA0, 0x1BCA3, Hidden::invisible},
    {0x1D173, 0x1D17A, Hidden::invisible},   {0xE0000, 0xE007F, Hidden::tag},
    {0xE0080, 0xE00FF, Hidden::invisible},   {0xE0100, 0xE01EF, Hidden::variation},
    {0xE01F0, 0xE0FFF, Hidden::invisible},
});
static_assert(std::ranges::is_sorted(kHidden, {}, &Range::first));

}  // namespace

Hidden hidden_class(char32_t code_point) {
  const auto* after = std::ranges::upper_bound(kHidden, code_point, {}, &Range::first);
  return after != kHidden.begin() && code_point <= (after - 1)->last ? (after - 1)->what : Hidden::none;
}

}  // namespace cordon::text
