// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/sarif_words.hpp"

#include "base/text.hpp"

namespace cordon::formats {

std::string sarif_text(std::string_view untrusted) {
  std::string out;
  for (const char c : text::printable(untrusted, 500)) {
    out += c == '[' || c == ']' ? text::cat('\\', c) : std::string(1, c);
  }
  return out;
}

std::string sarif_uri(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    out += plain ? std::string(1, c) : text::cat('%', kDigits[byte >> 4U], kDigits[byte & 15U]);
  }
  return out;
}

}  // namespace cordon::formats
