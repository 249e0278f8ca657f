// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>

#include "base/plain.hpp"

namespace cordon::text {

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) {
      out += separator;
    }
    out += part;
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) {
      parts.push_back(text.substr(begin));
      return parts;
    }
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

CodePoint decode_utf8(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const std::size_t left = text.size() - offset;
  if (left == 0) {
    return {};
  }
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0 || left < length) {
    return {};
  }
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return {};
    }
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) {
    return {};
  }
  return {value, length};
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

bool valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (point.length == 0) {
      return false;
    }
    i += point.length;
  }
  return true;
}

namespace {

void append_hex(std::string& out, std::uint32_t value, std::size_t min_digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string reversed;
  while (value != 0 || reversed.size() < min_digits) {
    reversed += kDigits[value & 0xFU];
    value >>= 4U;
  }
  out.append(reversed.rbegin(), reversed.rend());
}

void append_printable(std::string& out, std::string_view text, std::size_t offset, const CodePoint& point) {
  if (point.length == 0) {
    out += "\\x";
    append_hex(out, static_cast<unsigned char>(text[offset]), 2);
  } else if (point.value == '\\') {
    out += "\\\\";
  } else if (point.value == '\n') {
    out += "\\n";
  } else if (point.value == '\t') {
    out += "\\t";
  } else if ((point.value >= 0x20 && point.value < 0x7F) || is_visible_letter(point.value)) {
    out += text.substr(offset, point.length);
  } else if (point.value < 0x80) {
    out += "\\x";
    append_hex(out, point.value, 2);
  } else {
    out += "\\u{";
    append_hex(out, point.value, 4);
    out += '}';
  }
}

}  // namespace

std::string printable(std::string_view untrusted, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(untrusted.size(), max_bytes));
  for (std::size_t i = 0; i < untrusted.size();) {
    if (out.size() < max_bytes) {  // nearly everything, nearly always
      const std::size_t room = max_bytes - out.size();
      const std::size_t run = plain_run(untrusted.substr(i, room));
      const std::size_t taken = run < room && i + run < untrusted.size() && untrusted[i + run] == '"' ? run + 1 : run;
      if (taken > 0) {
        out += untrusted.substr(i, taken);
        i += taken;
        continue;
      }
    }
    const CodePoint point = decode_utf8(untrusted, i);
    const std::size_t before = out.size();
    append_printable(out, untrusted, i, point);
    if (out.size() > max_bytes) {
      out.resize(before);
      out += "…";
      return out;
    }
    i += point.length == 0 ? 1 : point.length;
  }
  return out;
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = j;
    }
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t above = row[j];
        const std::size_t change = word[i - 1] == candidate[j - 1] ? 0 : 1;
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + change});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return out;
}

std::string fold_to_ascii(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "\xC5\xBF") {  // U+017F
      out += 's';
      i += 2;
    } else if (text.substr(i, 3) == "\xE2\x84\xAA") {  // U+212A
      out += 'k';
      i += 3;
    } else {
      const char c = text[i];
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      ++i;
    }
  }
  return out;
}

}  // namespace cordon::text
