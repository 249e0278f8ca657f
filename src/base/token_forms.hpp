// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one table of the forms that well-known secrets have. Their issuers publish them so that leaks can be found.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cordon {

struct TokenForm {
  enum class Letters : std::uint8_t { alphanumeric, upper, word, dotted };  // word: with _ and -; dotted: with . too
  enum class Sure : bool { no, yes };  // no: only where a whole value is looked at, not inside of prose
  std::string_view prefix = {};
  std::size_t least = 0;  // characters behind the prefix
  Letters letters = Letters::alphanumeric;
  std::string_view kind = {};  // for a person: "GitHub token"
  Sure sure = Sure::yes;
};

// Where one prefix begins with another, the longer stands first.
std::span<const TokenForm> token_forms();

constexpr bool fits(TokenForm::Letters letters, char c) {
  const bool upper = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  const bool more = letters != TokenForm::Letters::upper && c >= 'a' && c <= 'z';
  const bool joined = letters == TokenForm::Letters::word || letters == TokenForm::Letters::dotted;
  return upper || more || (joined && (c == '_' || c == '-')) || (letters == TokenForm::Letters::dotted && c == '.');
}

}  // namespace cordon
