// SPDX-License-Identifier: Apache-2.0
#include "base/sha256_fast.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cordon::detail {

#if defined(__x86_64__)

namespace {

// FIPS 180-4, section 4.2.2.
alignas(16) constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool ask_processor() {
  constexpr unsigned kSsse3 = 1U << 9U;
  constexpr unsigned kSse41 = 1U << 19U;
  constexpr unsigned kSha = 1U << 29U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0 || (c & kSse41) == 0) {
    return false;
  }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

int as_int(std::uint32_t word) { return static_cast<int>(word); }

const __m128i* as_vector(const void* bytes) { return static_cast<const __m128i*>(bytes); }

// The instructions keep the eight words as ABEF and CDGH, and do two rounds at once.
__attribute__((target("sha,sse4.1,ssse3"))) void compress(std::array<std::uint32_t, 8>& state, const char* bytes,
                                                          std::size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(as_int(state[0]), as_int(state[1]), as_int(state[4]), as_int(state[5]));
  __m128i cdgh = _mm_set_epi32(as_int(state[2]), as_int(state[3]), as_int(state[6]), as_int(state[7]));
  for (; blocks > 0; --blocks, bytes += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128(as_vector(bytes + 16 * i)), swap);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m128i sum =
          _mm_add_epi32(words[i & 3], _mm_load_si128(as_vector(&kRound[static_cast<std::size_t>(4 * i)])));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i < 12) {
        const __m128i older = _mm_sha256msg1_epu32(words[i & 3], words[(i + 1) & 3]);
        const __m128i newer = _mm_alignr_epi8(words[(i + 3) & 3], words[(i + 2) & 3], 4);
        words[i & 3] = _mm_sha256msg2_epu32(_mm_add_epi32(older, newer), words[(i + 3) & 3]);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const auto word = [](int value) { return static_cast<std::uint32_t>(value); };
  state = {word(_mm_extract_epi32(abef, 3)), word(_mm_extract_epi32(abef, 2)), word(_mm_extract_epi32(cdgh, 3)),
           word(_mm_extract_epi32(cdgh, 2)), word(_mm_extract_epi32(abef, 1)), word(_mm_extract_epi32(abef, 0)),
           word(_mm_extract_epi32(cdgh, 1)), word(_mm_extract_epi32(cdgh, 0))};
}

}  // namespace

bool have_fast_sha256() {
  // CPUID is slow, and very slow in a virtual machine.
  static const bool have = ask_processor();
  return have;
}

#else

namespace {

void compress(std::array<std::uint32_t, 8>&, const char*, std::size_t) { CORDON_ASSERT(false); }

}  // namespace

bool have_fast_sha256() { return false; }

#endif

void FastSha256::update(std::string_view bytes) {
  length_ += bytes.size();
  if (used_ != 0) {
    const std::size_t taken = std::min(bytes.size(), kBlockBytes - used_);
    std::memcpy(block_.data() + used_, bytes.data(), taken);
    used_ += taken;
    bytes.remove_prefix(taken);
    if (used_ < kBlockBytes) {
      return;
    }
    compress(state_, block_.data(), 1);
    used_ = 0;
  }
  if (const std::size_t blocks = bytes.size() / kBlockBytes; blocks != 0) {
    compress(state_, bytes.data(), blocks);
    bytes.remove_prefix(blocks * kBlockBytes);
  }
  if (!bytes.empty()) {
    std::memcpy(block_.data(), bytes.data(), bytes.size());
    used_ = bytes.size();
  }
}

std::array<std::uint8_t, 32> FastSha256::finish() {
  const std::uint64_t bits = length_ * 8;
  // A one bit, zeros, and the length in the last eight bytes of a block.
  std::array<char, 2 * kBlockBytes> end = {'\x80'};
  const std::size_t padding = (used_ < 56 ? 56 : 120) - used_;
  for (std::size_t i = 0; i < 8; ++i) {
    end[padding + i] = static_cast<char>(bits >> (56 - 8 * i));
  }
  update(std::string_view(end.data(), padding + 8));
  std::array<std::uint8_t, 32> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace cordon::detail
