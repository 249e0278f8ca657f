// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one look that most text passes by: bytes that mean themselves in JSON, in a log and on a terminal.

#include <cstddef>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>

#include <bit>
#endif

namespace cordon::text {

constexpr bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

// How many bytes from the start are printable ASCII and neither a quote nor a backslash.
inline std::size_t plain_run(std::string_view text) {
  std::size_t at = 0;
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i other = _mm_or_si128(
        _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F))),
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    if (const auto hits = static_cast<unsigned>(_mm_movemask_epi8(other)); hits != 0) {
      return at + static_cast<std::size_t>(std::countr_zero(hits));
    }
  }
#endif
  while (at < text.size() && is_plain(text[at])) {
    ++at;
  }
  return at;
}

}  // namespace cordon::text
