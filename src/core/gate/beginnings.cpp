// SPDX-License-Identifier: Apache-2.0
#include "core/gate/beginnings.hpp"

#include <bit>

#if defined(__x86_64__)
#include <tmmintrin.h>
#define CORDON_HAS_BLOCKS 1
#endif

#include "base/error.hpp"

namespace cordon::gate {
namespace {

constexpr std::size_t kGroups = 8;

std::uint32_t three_at(const char* text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  return byte(0) | byte(1) << 8U | byte(2) << 16U;
}

std::uint32_t four_at(const char* text) {
  return three_at(text) | static_cast<std::uint32_t>(static_cast<unsigned char>(text[3])) << 24U;
}

std::size_t low_half(char c) { return static_cast<unsigned char>(c) & 0xFU; }
std::size_t high_half(char c) { return static_cast<unsigned char>(c) >> 4U; }

void put(Beginnings::Table& table, std::string_view text, unsigned group) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i].low.at(low_half(text[i])) |= static_cast<std::uint8_t>(1U << group);
    table[i].high.at(high_half(text[i])) |= static_cast<std::uint8_t>(1U << group);
  }
}

// How many of all sequences of three bytes a group lets through.
std::size_t width(const Beginnings::Table& table, unsigned group) {
  std::size_t product = 1;
  for (const Beginnings::Halves& halves : table) {
    std::size_t low = 0;
    std::size_t high = 0;
    for (std::size_t i = 0; i < halves.low.size(); ++i) {
      low += halves.low[i] >> group & 1U;
      high += halves.high[i] >> group & 1U;
    }
    product *= low * high;
  }
  return product;
}

#ifdef CORDON_HAS_BLOCKS

constexpr std::size_t kBlock = 16;

bool has_blocks() {
  static const bool has = __builtin_cpu_supports("ssse3") != 0;
  return has;
}

__attribute__((target("ssse3"))) inline __m128i groups_at(const Beginnings::Halves& halves, const char* text) {
  const __m128i half = _mm_set1_epi8(0xF);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i low = _mm_load_si128(reinterpret_cast<const __m128i*>(halves.low.data()));
  const __m128i high = _mm_load_si128(reinterpret_cast<const __m128i*>(halves.high.data()));
  return _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(bytes, half)),
                       _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(bytes, 4), half)));
}

// A bit for each of the sixteen bytes from here on where one may begin; two more bytes are read.
__attribute__((target("ssse3"))) std::uint32_t block_at(const Beginnings::Table& table, const char* text) {
  const __m128i all = _mm_and_si128(groups_at(table[0], text),
                                    _mm_and_si128(groups_at(table[1], text + 1), groups_at(table[2], text + 2)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128()))) ^ 0xFFFFU;
}

// The first block from `at` on in which one may begin, or the first that is not whole.
__attribute__((target("ssse3"))) std::size_t skip_blocks(const Beginnings::Table& table, std::string_view text,
                                                         std::size_t at) {
  while (at + kBlock + Beginnings::kBytes <= text.size() && block_at(table, text.data() + at) == 0) {
    at += kBlock;
  }
  return at;
}

#endif

}  // namespace

std::size_t Beginnings::hash_of(std::uint32_t bytes) { return (bytes * 0x9E3779B1U) >> 17U; }

bool Beginnings::stands_at(std::string_view text, std::size_t at) const {
  const char* const place = text.data() + at;
  const std::size_t three = hash_of(three_at(place));
  return threes_[three] && (short_[three] || (at + kBytes < text.size() && fours_[hash_of(four_at(place))]));
}

// Each goes where it widens a group the least.
void Beginnings::add(std::string_view text) {
  CORDON_ASSERT(text.size() >= kBytes);
  const std::size_t three = hash_of(three_at(text.data()));
  threes_.set(three);
  if (text.size() > kBytes) {
    fours_.set(hash_of(four_at(text.data())));
  } else {
    short_.set(three);
  }
  unsigned best = 0;
  std::size_t least = SIZE_MAX;
  for (unsigned group = 0; group < kGroups; ++group) {
    Table with = table_;
    put(with, text, group);
    const std::size_t more = width(with, group) - width(table_, group);
    if (more < least) {
      least = more;
      best = group;
    }
  }
  put(table_, text, best);
}

std::size_t Beginnings::next_by_byte(std::string_view text, std::size_t at) const {
  for (; at + kBytes <= text.size(); ++at) {
    if (stands_at(text, at)) {
      return at;
    }
  }
  return text.size();
}

std::size_t Beginnings::next(std::string_view text, std::size_t at) const {
#ifdef CORDON_HAS_BLOCKS
  if (has_blocks()) {
    for (;;) {
      at = skip_blocks(table_, text, at);
      if (at + kBlock + kBytes > text.size()) {
        break;
      }
      for (std::uint32_t places = block_at(table_, text.data() + at); places != 0; places &= places - 1) {
        const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(places));
        if (stands_at(text, place)) {
          return place;
        }
      }
      at += kBlock;
    }
  }
#endif
  return next_by_byte(text, at);
}

}  // namespace cordon::gate
