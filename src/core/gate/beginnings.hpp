// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where in a text one of many beginnings, told by their first three or four bytes, stands. A block of bytes at a time
// where the processor can: nearly all of a text is none.

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cordon::gate {

class Beginnings {
 public:
  static constexpr std::size_t kBytes = 3;

  // `text` has three bytes or more.
  void add(std::string_view text);

  // The first place from `at` on where one that was added may stand; the end of the text when there is none. Errs on
  // the side of finding one.
  std::size_t next(std::string_view text, std::size_t at) const;

  // The same, byte by byte.
  std::size_t next_by_byte(std::string_view text, std::size_t at) const;

  // Of each byte: the groups (one bit each) of which some beginning has this low, and this high half there.
  struct Halves {
    alignas(16) std::array<std::uint8_t, 16> low = {};
    alignas(16) std::array<std::uint8_t, 16> high = {};
  };
  using Table = std::array<Halves, kBytes>;

 private:
  static constexpr std::size_t kHashes = 1U << 15U;
  static std::size_t hash_of(std::uint32_t bytes);
  bool stands_at(std::string_view text, std::size_t at) const;

  std::bitset<kHashes> threes_ = {};  // the first three bytes of each, hashed
  std::bitset<kHashes> fours_ = {};   // the first four of those that have as many
  std::bitset<kHashes> short_ = {};   // of those that have three only
  Table table_ = {};
};

}  // namespace cordon::gate
