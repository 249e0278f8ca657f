// SPDX-License-Identifier: Apache-2.0
#include "fakes/tiny_json.hpp"

#include <cstdio>

namespace fake {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Json whole() {
    Json value = read(0);
    blanks();
    return at_ == text_.size() && good_ ? value : Json{};
  }

 private:
  static constexpr int kMaxDepth = 200;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  }
  bool take(char wanted) {
    blanks();
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void demand(char wanted) { good_ = take(wanted) && good_; }

  Json read(int depth) {
    blanks();
    const std::size_t begin = at_;
    Json value;
    if (depth > kMaxDepth) {
      good_ = false;
    } else if (peek() == '{') {
      read_object(value, depth);
    } else if (peek() == '[') {
      read_array(value, depth);
    } else if (peek() == '"') {
      value.kind = Json::Kind::string;
      value.text = read_string();
    } else {
      read_word(value);
    }
    value.raw = std::string(text_.substr(begin, at_ - begin));
    return value;
  }

  void read_object(Json& value, int depth) {
    value.kind = Json::Kind::object;
    demand('{');
    if (take('}')) return;
    do {
      blanks();
      std::string key = read_string();
      demand(':');
      value.members.emplace_back(std::move(key), read(depth + 1));
    } while (good_ && take(','));
    demand('}');
  }

  void read_array(Json& value, int depth) {
    value.kind = Json::Kind::array;
    demand('[');
    if (take(']')) return;
    do {
      value.items.push_back(read(depth + 1));
    } while (good_ && take(','));
    demand(']');
  }

  void read_word(Json& value) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    value.text = std::string(text_.substr(begin, at_ - begin));
    if (value.text == "null") {
      value.kind = Json::Kind::null;
    } else if (value.text == "true" || value.text == "false") {
      value.kind = Json::Kind::boolean;
    } else if (!value.text.empty() && std::string_view("-0123456789").find(value.text[0]) != std::string_view::npos) {
      value.kind = Json::Kind::number;
    } else {
      good_ = false;
    }
  }

  std::string read_string() {
    std::string out;
    demand('"');
    while (good_ && peek() != '"') {
      if (at_ >= text_.size()) {
        good_ = false;
      } else if (text_[at_] == '\\') {
        ++at_;
        read_escape(out);
      } else {
        out += text_[at_++];
      }
    }
    demand('"');
    return out;
  }

  void read_escape(std::string& out) {
    constexpr std::string_view kLetters = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    const char letter = peek();
    ++at_;
    if (const auto found = kLetters.find(letter); found != std::string_view::npos) {
      out += kMeanings[found];
    } else if (letter == 'u') {
      append_utf8(out, read_code_point());
    } else {
      out += letter;
    }
  }

  unsigned long hex4() {
    unsigned long value = 0;
    for (int i = 0; i < 4; ++i) {
      const char digit = peek();
      const auto found = std::string_view("0123456789abcdef").find(static_cast<char>(digit | 0x20));
      if (found == std::string_view::npos || digit == '\0') {
        good_ = false;
        return 0;
      }
      value = value * 16 + found;
      ++at_;
    }
    return value;
  }

  unsigned long read_code_point() {
    const unsigned long high = hex4();
    if (high < 0xD800 || high > 0xDBFF || text_.substr(at_, 2) != "\\u") return high;
    at_ += 2;
    const unsigned long low = hex4();
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  static void append_utf8(std::string& out, unsigned long point) {
    const auto byte = [&out](unsigned long value) { out += static_cast<char>(value); };
    if (point < 0x80) {
      byte(point);
    } else if (point < 0x800) {
      byte(0xC0 | (point >> 6));
      byte(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
      byte(0xE0 | (point >> 12));
      byte(0x80 | ((point >> 6) & 0x3F));
      byte(0x80 | (point & 0x3F));
    } else {
      byte(0xF0 | (point >> 18));
      byte(0x80 | ((point >> 12) & 0x3F));
      byte(0x80 | ((point >> 6) & 0x3F));
      byte(0x80 | (point & 0x3F));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

Json parse(std::string_view text) { return Reader(text).whole(); }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace fake
