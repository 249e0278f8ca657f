// SPDX-License-Identifier: Apache-2.0
#include "formats/json_place.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace cordon::formats {

std::string place_of_offset(std::string_view file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? before.size() + 1 : before.size() - last;
  return text::cat(file, ':', lines + 1, ':', column);
}

std::string place_of_value(std::string_view file, const json::Document& document, const json::Value& value) {
  if (!value) {
    return std::string(file);
  }
  return place_of_offset(file, document.text(), static_cast<std::size_t>(value.raw().data() - document.text().data()));
}

std::string place_of_read_error(std::string_view file, std::string_view text, std::string_view where) {
  constexpr std::string_view kByte = "byte ";
  std::size_t offset = 0;
  if (!where.starts_with(kByte) ||
      std::from_chars(where.data() + kByte.size(), where.data() + where.size(), offset).ec != std::errc()) {
    return std::string(file);
  }
  return place_of_offset(file, text, offset);
}

}  // namespace cordon::formats
