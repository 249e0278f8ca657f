// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which words of a text changed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::formats {

struct WordPiece {
  enum class Kind : std::uint8_t { same, removed, added };
  Kind kind = Kind::same;
  std::string text = {};
  bool operator==(const WordPiece&) const = default;
};

// The pieces that are not `added` give `before`, those that are not `removed` give `after`. Of two texts that have
// little in common all between their equal ends counts as changed, which bounds the work.
std::vector<WordPiece> word_diff(std::string_view before, std::string_view after);

}  // namespace cordon::formats
