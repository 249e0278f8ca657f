// SPDX-License-Identifier: Apache-2.0
// The strict reader against a second reader written for this test alone: plain recursive descent over the grammar of
// RFC 8259, with no shared code. Both must agree on what is JSON, on what is ambiguous, and on the canonical form.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

using namespace cordon;

namespace {

constexpr std::size_t kMaxDepth = 40;

enum class Verdict { good, malformed, ambiguous, deep };

// Reads the way the grammar is written down, one character at a time.
class Plain {
 public:
  explicit Plain(std::string_view text) : text_(text) {}

  Verdict run() {
    space();
    value(0);
    space();
    if (verdict_ == Verdict::good && at_ != text_.size()) {
      verdict_ = Verdict::malformed;
    }
    return verdict_;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool ended() const { return at_ >= text_.size(); }
  void bad(Verdict verdict = Verdict::malformed) {
    if (verdict_ == Verdict::good) {
      verdict_ = verdict;
    }
  }
  bool ok() const { return verdict_ == Verdict::good; }
  void space() {
    while (!ended() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
      ++at_;
    }
  }
  bool eat(char c) {
    if (ended() || peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }
  void word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) {
      bad();
    }
    at_ += expected.size();
  }
  bool digits() {
    const std::size_t first = at_;
    while (!ended() && peek() >= '0' && peek() <= '9') {
      ++at_;
    }
    return at_ > first;
  }
  void number() {
    eat('-');
    if (!eat('0') && !digits()) {
      return bad();
    }
    if (eat('.') && !digits()) {
      return bad();
    }
    if (eat('e') || eat('E')) {
      if (!eat('+')) {
        eat('-');
      }
      if (!digits()) {
        return bad();
      }
    }
  }
  // Code units of UTF-16, which is how the escapes are defined.
  std::u16string string() {
    std::u16string out;
    ++at_;
    while (ok()) {
      if (ended()) {
        bad();
        break;
      }
      const auto byte = static_cast<unsigned char>(text_[at_++]);
      if (byte == '"') {
        break;
      }
      if (byte < 0x20) {
        bad();
      } else if (byte == '\\') {
        escape(out);
      } else if (byte < 0x80) {
        out += static_cast<char16_t>(byte);
      } else {
        utf8(out, byte);
      }
    }
    return out;
  }
  void escape(std::u16string& out) {
    const char c = ended() ? '\0' : text_[at_++];
    static const std::map<char, char16_t> kSimple = {{'"', u'"'},  {'\\', u'\\'}, {'/', u'/'},  {'b', u'\b'},
                                                     {'f', u'\f'}, {'n', u'\n'},  {'r', u'\r'}, {'t', u'\t'}};
    if (const auto found = kSimple.find(c); found != kSimple.end()) {
      out += found->second;
      return;
    }
    if (c != 'u' || text_.size() - at_ < 4) {
      return bad();
    }
    unsigned unit = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(text_[at_++]);
      if (digit == std::string_view::npos) {
        return bad();
      }
      unit = unit * 16 + static_cast<unsigned>(digit % 16);
    }
    out += static_cast<char16_t>(unit);
  }
  void utf8(std::u16string& out, unsigned char lead) {
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    char32_t point = more == 3 ? lead & 0x07U : more == 2 ? lead & 0x0FU : lead & 0x1FU;
    if (lead < 0xC2 || lead > 0xF4) {
      return bad();
    }
    for (int i = 0; i < more; ++i) {
      const auto next = static_cast<unsigned char>(peek());
      if (ended() || (next & 0xC0U) != 0x80U) {
        return bad();
      }
      point = point * 64 + (next & 0x3FU);
      ++at_;
    }
    const char32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
      return bad();
    }
    if (point >= 0x10000) {
      out += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10U));
      out += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FFU));
    } else {
      out += static_cast<char16_t>(point);
    }
  }
  static bool odd_key(const std::u16string& key) {
    for (std::size_t i = 0; i < key.size(); ++i) {
      const char16_t unit = key[i];
      if (unit == 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) {
        return true;
      }
      if (unit >= 0xD800 && unit <= 0xDBFF) {
        if (i + 1 == key.size() || key[i + 1] < 0xDC00 || key[i + 1] > 0xDFFF) {
          return true;
        }
        ++i;
      }
    }
    return false;
  }
  void object(std::size_t depth) {
    std::set<std::u16string> keys;
    bool twice = false;
    ++at_;
    space();
    if (eat('}')) {
      return;
    }
    do {
      space();
      if (peek() != '"' || ended()) {
        return bad();
      }
      const std::u16string key = string();
      if (ok() && odd_key(key)) {
        bad(Verdict::ambiguous);
      }
      twice |= !keys.insert(key).second;
      space();
      if (!eat(':')) {
        return bad();
      }
      space();
      value(depth);
      space();
    } while (ok() && eat(','));
    if (!eat('}')) {
      return bad();
    }
    if (twice) {
      bad(Verdict::ambiguous);
    }
  }
  void array(std::size_t depth) {
    ++at_;
    space();
    if (eat(']')) {
      return;
    }
    do {
      space();
      value(depth);
      space();
    } while (ok() && eat(','));
    if (!eat(']')) {
      bad();
    }
  }
  void value(std::size_t depth) {
    if (!ok() || ended()) {
      return bad();
    }
    const char c = peek();
    if ((c == '{' || c == '[') && depth + 1 > kMaxDepth) {
      return bad(Verdict::deep);
    }
    if (c == '{') {
      object(depth + 1);
    } else if (c == '[') {
      array(depth + 1);
    } else if (c == '"') {
      string();
    } else if (c == 't') {
      word("true");
    } else if (c == 'f') {
      word("false");
    } else if (c == 'n') {
      word("null");
    } else {
      number();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Verdict verdict_ = Verdict::good;
};

Verdict verdict_of(const Result<json::Document>& document) {
  if (document) {
    return Verdict::good;
  }
  return document.error().code == Errc::message_ambiguous   ? Verdict::ambiguous
         : document.error().code == Errc::message_too_large ? Verdict::deep
                                                            : Verdict::malformed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const json::Limits limits{.max_bytes = 1U << 20U, .max_depth = kMaxDepth};
  const auto document = json::read(text, limits);
  const Verdict plain = Plain(text).run();
  const Verdict ours = verdict_of(document);
  // Ours looks at the encoding of the whole text first, so a text that is bad in two ways may be told by either.
  CORDON_ASSERT((plain == Verdict::good) == (ours == Verdict::good));
  CORDON_ASSERT(ours == plain || (ours == Verdict::malformed && plain != Verdict::good));
  if (!document) {
    return 0;
  }
  CORDON_ASSERT(document->text() == text);
  const std::string canonical = json::canonical(document->root());
  const auto again = json::read(canonical, limits);
  CORDON_ASSERT(again.has_value());
  CORDON_ASSERT(json::canonical(again->root()) == canonical);
  const auto pretty = json::read(json::pretty(document->root(), json::Escaping::reviewable), {});
  CORDON_ASSERT(pretty.has_value());
  CORDON_ASSERT(json::canonical(pretty->root()) == canonical);
  return 0;
}
