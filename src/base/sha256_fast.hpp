// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256 by the SHA instructions of x86-64 processors. libsodium has portable code only, which takes most of the time
// that a record of the audit log costs. Private to hash.cpp, which takes libsodium where these are missing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cordon::detail {

// Asks the processor once.
bool have_fast_sha256();

// To be used only where have_fast_sha256() is true.
class FastSha256 {
 public:
  void update(std::string_view bytes);
  std::array<std::uint8_t, 32> finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<char, kBlockBytes> block_ = {};
  std::size_t used_ = 0;  // of block_
  std::uint64_t length_ = 0;
};

}  // namespace cordon::detail
