// SPDX-License-Identifier: Apache-2.0
#include "core/policy/match.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.hpp"
#include "core/policy/evaluate.hpp"

namespace cordon::policy {
namespace {

// What the right-hand side of a match is: a name, in which * and ? mean themselves, or another glob.
enum class Subject : std::uint8_t { name, glob };

// Bytes of the character at `offset`; a byte that is no valid UTF-8 counts as a character of its own.
std::size_t width(std::string_view text, std::size_t offset) {
  return std::max<std::size_t>(1, text::decode_utf8(text, offset).length);
}

// Bytes of `text` that the single glob character at `glob[at]` takes at `text[offset]`; 0 when it does not fit.
std::size_t taken(std::string_view glob, std::size_t at, std::string_view text, std::size_t offset, Subject subject) {
  if (glob[at] == '?') {
    // One character cannot stand for a run of them.
    return subject == Subject::glob && text[offset] == '*' ? 0 : width(text, offset);
  }
  const std::size_t length = width(glob, at);
  return text.substr(offset, length) == glob.substr(at, length) ? length : 0;
}

// Only the last * seen is ever reconsidered, which is enough (an earlier one could only give the later one less room),
// so the work is at most glob × text and never exponential.
bool match(std::string_view glob, std::string_view text, Subject subject) {
  std::size_t at = 0;
  std::size_t offset = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_offset = 0;
  while (offset < text.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_offset = offset;
      continue;
    }
    const std::size_t length = at < glob.size() ? taken(glob, at, text, offset, subject) : 0;
    if (length != 0) {
      at += glob[at] == '?' ? 1 : length;
      offset += length;
    } else if (star != std::string_view::npos) {
      star_offset += width(text, star_offset);
      offset = star_offset;
      at = star + 1;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

bool glob_match(std::string_view glob, std::string_view name) { return match(glob, name, Subject::name); }

bool glob_covers(std::string_view general, std::string_view special) { return match(general, special, Subject::glob); }

}  // namespace cordon::policy
