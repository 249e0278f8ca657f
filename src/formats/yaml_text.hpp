// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a YAML text may consist of before it is parsed, and where each byte of it stands.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"

namespace cordon::yaml {

// Names the kind of a character that a reviewer could not see or that other readers treat as a line end; nothing for
// one that may stand in a text. Tab and line feed count as fine here.
std::optional<std::string_view> hidden_kind(char32_t code_point);

// How many bytes at the head of a text a scalar takes, or why it is refused. yaml-cpp is lax here: it takes the end of
// the text for a missing quote, and folds lines as no two readers do.
struct Extent {
  std::size_t length = 0;
  std::string_view fault = {};  // empty: none
  std::string_view remedy = {};
};
Extent plain_extent(std::string_view text, std::string_view value);
// For a text that begins with a quote, or with | or >, whose length is not told.
Extent quoted_extent(std::string_view text);

// A text with LF line ends, one at its end, and the place of each of its bytes.
class Source {
 public:
  // policy_invalid for invalid UTF-8, hidden characters, tabs, a CR without LF, and lines that begin with %.
  static Result<Source> from(std::string_view raw, std::string_view file);

  const std::string& text() const { return text_; }
  // Offsets beyond the end count as the end. Cheap when offsets grow from call to call.
  policy::Position position(std::size_t offset);

 private:
  std::string text_ = {};
  std::vector<std::size_t> line_starts_ = {0};
  // The last answer, so that a long line is not counted from its start for each of its values.
  std::size_t last_offset_ = 0;
  policy::Position last_ = {1, 1};
};

}  // namespace cordon::yaml
