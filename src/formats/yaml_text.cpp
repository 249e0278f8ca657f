// SPDX-License-Identifier: Apache-2.0
#include "formats/yaml_text.hpp"

#include <algorithm>
#include <utility>

#include "base/hidden.hpp"
#include "base/text.hpp"
#include "formats/yaml.hpp"

namespace cordon::yaml {
namespace {

std::string_view remedy_for(char32_t code_point, std::size_t offset) {
  if (code_point == U'\t') {
    return "indent and align with spaces";
  }
  if (code_point == U'\r') {
    return "end lines with LF or CR LF";
  }
  if (code_point == 0xFEFF && offset == 0) {
    return "save the file as UTF-8 without a byte order mark";
  }
  return "remove it; inside double quotes an escape may stand for it where the value allows it";
}

}  // namespace

std::optional<std::string_view> hidden_kind(char32_t code_point) {
  const bool no_meaning = (code_point >= 0xE000 && code_point <= 0xF8FF) || code_point >= 0xF0000 ||
                          code_point == 0xFFFE || code_point == 0xFFFF;
  if (no_meaning) {
    return "a character without a meaning";
  }
  if (code_point == 0xFEFF) {
    return "a byte order mark";
  }
  using text::Hidden;
  switch (text::hidden_class(code_point)) {
    case Hidden::none:
      return std::nullopt;
    case Hidden::control:
      return code_point == U'\t' || code_point == U'\n' ? std::nullopt : std::optional("a control character");
    case Hidden::mark:
    case Hidden::bidirectional:
      return "a character that reorders text";
    case Hidden::separator:
      return "a line separator";
    case Hidden::invisible:
    case Hidden::joiner:
    case Hidden::tag:
      break;
    case Hidden::variation:
      if (code_point == 0xFE0E || code_point == 0xFE0F) {
        return std::nullopt;  // of emoji
      }
      break;
  }
  return "an invisible character";
}

Extent plain_extent(std::string_view text, std::string_view value) {
  if (!text.starts_with(value)) {
    return {0, "a value without quotes goes on in the next line",
            "put it in quotes, or mend the indentation of the next line"};
  }
  if (value.starts_with(':')) {
    return {0, "a value without quotes that begins with a colon", "put it in quotes, or a space behind the colon"};
  }
  return {value.size(), {}, {}};
}

Extent quoted_extent(std::string_view text) {
  const char quote = text.empty() ? '\0' : text.front();
  if (quote == '|' || quote == '>') {
    std::string_view header = text.substr(1, text.find('\n') - 1);
    header.remove_prefix(std::min(header.find_first_not_of("+-123456789"), header.size()));
    const bool fine = header.empty() || header.find_first_not_of(' ') == std::string_view::npos ||
                      (header.front() == ' ' && header[header.find_first_not_of(' ')] == '#');
    return fine ? Extent{} : Extent{0, "text right behind | or >", "begin the text on the next line"};
  }
  constexpr std::string_view kEscapes = "0abtnvfe \"/\\N_LPxuU";
  for (std::size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    const bool escape = quote == '"' ? text[i] == '\\' : text.substr(i, 2) == "''";
    if (!escape && text[i] == quote) {
      return {i + 1, {}, {}};
    }
    i += escape ? 1 : 0;
    if (escape && quote == '"' && (i == text.size() || kEscapes.find(text[i]) == std::string_view::npos)) {
      return {0, "an escape that YAML does not know", "double a backslash that is meant, or use single quotes"};
    }
  }
  return {0, "a quoted string that does not end on its line", "close the quote, or use | for a text of several lines"};
}

Result<Source> Source::from(std::string_view raw, std::string_view file) {
  Source source;
  source.text_.reserve(raw.size());
  const auto refuse = [&](std::string detail, std::string_view remedy) {
    return fail(Errc::policy_invalid, std::move(detail), where(file, source.position(source.text_.size())),
                std::string(remedy));
  };
  for (std::size_t i = 0; i < raw.size();) {
    const text::CodePoint point = text::decode_utf8(raw, i);
    if (point.length == 0) {
      return refuse("the text is not valid UTF-8 here", "save the file as UTF-8");
    }
    if (point.value == U'\r' && raw.substr(i, 2) == "\r\n") {
      ++i;
      continue;
    }
    if (point.value == U'\t') {
      return refuse("a tab", remedy_for(point.value, i));
    }
    if (const auto kind = hidden_kind(point.value)) {
      return refuse(text::cat(*kind, " (", text::printable(raw.substr(i, point.length)), ")"),
                    remedy_for(point.value, i));
    }
    if (point.value == U'%' && source.line_starts_.back() == source.text_.size()) {
      return refuse("a line that begins with % would be a YAML directive",
                    "directives are not used in policies; indent or quote the value if it is none");
    }
    source.text_ += raw.substr(i, point.length);
    if (point.value == U'\n') {
      source.line_starts_.push_back(source.text_.size());
    }
    i += point.length;
  }
  // Some readers treat a last line without its end in a way of their own.
  if (!source.text_.ends_with('\n')) {
    source.text_ += '\n';
    source.line_starts_.push_back(source.text_.size());
  }
  return source;
}

policy::Position Source::position(std::size_t offset) {
  offset = std::min(offset, text_.size());
  const auto next_line = std::ranges::upper_bound(line_starts_, offset);
  const int line = static_cast<int>(next_line - line_starts_.begin());
  const std::size_t line_start = *(next_line - 1);
  std::size_t from = line_start;
  int column = 1;
  if (last_.line == line && last_offset_ <= offset) {
    from = last_offset_;
    column = last_.column;
  }
  // One per character: bytes that do not continue one.
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  column += static_cast<int>(std::ranges::count_if(std::string_view(text_).substr(from, offset - from), begins));
  last_offset_ = offset;
  last_ = {line, column};
  return last_;
}

}  // namespace cordon::yaml
