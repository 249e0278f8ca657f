// SPDX-License-Identifier: Apache-2.0
#include "core/json/unescape.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

namespace cordon::json {
namespace {

// Four hex digits at text[offset]; 0xFFFFFFFF when they are not there.
constexpr char32_t kNone = 0xFFFFFFFF;
char32_t hex4(std::string_view text, std::size_t offset) {
  if (text.size() < offset + 4) {
    return kNone;
  }
  char32_t value = 0;
  for (std::size_t i = offset; i < offset + 4; ++i) {
    const char c = text[i];
    char32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<char32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<char32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<char32_t>(c - 'A' + 10);
    } else {
      return kNone;
    }
    value = (value << 4U) | digit;
  }
  return value;
}

Escape read_unicode_escape(std::string_view text) {
  const char32_t first = hex4(text, 2);
  if (first == kNone) {
    return {};
  }
  if (first < 0xD800 || first > 0xDFFF) {
    return {6, first, false};
  }
  if (first <= 0xDBFF && text.size() >= 12 && text[6] == '\\' && text[7] == 'u') {
    const char32_t second = hex4(text, 8);
    if (second != kNone && second >= 0xDC00 && second <= 0xDFFF) {
      return {12, 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00), false};
    }
  }
  return {6, first, true};
}

}  // namespace

Escape read_escape(std::string_view text) {
  if (text.size() < 2) {
    return {};
  }
  switch (text[1]) {
    case '"':
    case '\\':
    case '/':
      return {2, static_cast<char32_t>(text[1]), false};
    case 'b':
      return {2, '\b', false};
    case 'f':
      return {2, '\f', false};
    case 'n':
      return {2, '\n', false};
    case 'r':
      return {2, '\r', false};
    case 't':
      return {2, '\t', false};
    case 'u':
      return read_unicode_escape(text);
    default:
      return {};
  }
}

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  while (!raw.empty()) {
    const std::size_t plain = raw.find('\\');
    out += raw.substr(0, plain);
    if (plain == std::string_view::npos) {
      break;
    }
    raw.remove_prefix(plain);
    const Escape escape = read_escape(raw);
    CORDON_ASSERT(escape.length != 0);
    text::append_utf8(out, escape.value);
    raw.remove_prefix(escape.length);
  }
  return out;
}

}  // namespace cordon::json
