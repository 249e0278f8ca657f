// SPDX-License-Identifier: Apache-2.0
#include "formats/ini.hpp"

#include "base/text.hpp"

namespace cordon::formats {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

Ini read_ini(std::string_view text, bool colons) {
  Ini out;
  IniSection* section = nullptr;
  std::string* value = nullptr;
  for (const std::string_view raw : text::split(text, '\n')) {
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') {
      continue;
    }
    if (raw.front() == ' ' || raw.front() == '\t') {
      if (value != nullptr) {
        *value += text::cat(value->empty() ? "" : "\n", line);
      }
      continue;
    }
    value = nullptr;
    if (line.front() == '[' && line.ends_with(']')) {
      section = &out[std::string(line.substr(1, line.size() - 2))];
      continue;
    }
    const std::size_t equals = line.find_first_of(colons ? "=:" : "=");
    const std::string_view key = trimmed(line.substr(0, equals));
    if (section != nullptr && equals != std::string_view::npos && !key.empty()) {
      value = &(*section)[std::string(key)];
      *value = trimmed(line.substr(equals + 1));
    }
  }
  return out;
}

}  // namespace cordon::formats
