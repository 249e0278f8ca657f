// SPDX-License-Identifier: Apache-2.0
#include "core/json/read.hpp"

#include <simdjson.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.hpp"
#include "core/json/unescape.hpp"

namespace cordon::json {
namespace {

using detail::Node;
using detail::Tape;

bool is_plain(char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; }

#ifdef __SSE2__
// The first byte at or after `p` that is a quote, a backslash or a control character; sixteen bytes at a time.
const char* skip_plain(const char* p, const char* end) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  while (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    // Unsigned "at most 0x1F": the smaller of both is the byte itself.
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i special =
        _mm_or_si128(control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto hits = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (hits != 0) {
      return p + std::countr_zero(hits);
    }
    p += 16;
  }
  while (p < end && is_plain(*p)) {
    ++p;
  }
  return p;
}
#else
const char* skip_plain(const char* p, const char* end) {
  while (p < end && is_plain(*p)) {
    ++p;
  }
  return p;
}
#endif

// What may follow a backslash by itself.
bool is_short_escape(char c) {
  return c == '"' || c == 'n' || c == '\\' || c == 't' || c == 'r' || c == '/' || c == 'b' || c == 'f';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  Reader(Tape& tape, const Limits& limits)
      : tape_(tape), limits_(limits), begin_(tape.text.data()), p_(begin_), end_(begin_ + tape.text.size()) {}

  Status run() {
    skip_space();
    if (!value(0)) {
      return std::unexpected(std::move(error_));
    }
    skip_space();
    if (p_ != end_) {
      malformed("text after the JSON value");
      return std::unexpected(std::move(error_));
    }
    return {};
  }

 private:
  bool report(Errc code, std::string detail) {
    error_ = Error{code, std::move(detail), text::cat("byte ", p_ - begin_), {}};
    return false;
  }
  bool malformed(std::string detail) { return report(Errc::message_malformed, std::move(detail)); }

  void skip_space() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r')) {
      ++p_;
    }
  }

  std::uint32_t open(Kind kind) {
    const auto index = static_cast<std::uint32_t>(tape_.nodes.size());
    tape_.nodes.push_back({static_cast<std::uint32_t>(p_ - begin_), 0, 0, kind, 0});
    return index;
  }
  void close(std::uint32_t index) {
    Node& node = tape_.nodes[index];
    node.length = static_cast<std::uint32_t>(p_ - begin_) - node.begin;
    node.next = static_cast<std::uint32_t>(tape_.nodes.size());
  }

  bool value(std::size_t depth) {
    if (p_ == end_) {
      return malformed("the text ends where a value is expected");
    }
    switch (*p_) {
      case '{':
        return object(depth + 1);
      case '[':
        return array(depth + 1);
      case '"':
        return string();
      case 't':
        return literal("true", Kind::boolean);
      case 'f':
        return literal("false", Kind::boolean);
      case 'n':
        return literal("null", Kind::null);
      default:
        return number();
    }
  }

  bool literal(std::string_view word, Kind kind) {
    if (std::string_view(p_, static_cast<std::size_t>(end_ - p_)).substr(0, word.size()) != word) {
      return malformed("not a JSON value");
    }
    const std::uint32_t index = open(kind);
    p_ += word.size();
    close(index);
    return true;
  }

  bool digits() {
    const char* first = p_;
    while (p_ < end_ && is_digit(*p_)) {
      ++p_;
    }
    return p_ != first;
  }

  // Grammar only; the spelling is kept and never converted.
  bool number() {
    const std::uint32_t index = open(Kind::number);
    if (p_ < end_ && *p_ == '-') {
      ++p_;
    }
    const bool leading_zero = p_ < end_ && *p_ == '0';
    const char* first = p_;
    if (!digits()) {
      return malformed("not a JSON value");
    }
    if (leading_zero && p_ - first > 1) {
      return malformed("a number with a leading zero");
    }
    if (p_ < end_ && *p_ == '.') {
      ++p_;
      if (!digits()) {
        return malformed("a number without digits after its point");
      }
    }
    if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
      ++p_;
      if (p_ < end_ && (*p_ == '+' || *p_ == '-')) {
        ++p_;
      }
      if (!digits()) {
        return malformed("a number without digits in its exponent");
      }
    }
    close(index);
    return true;
  }

  bool string() {
    ++p_;
    const std::uint32_t index = open(Kind::string);
    std::uint8_t flags = 0;
    for (;;) {
      p_ = skip_plain(p_, end_);
      if (p_ == end_) {
        return malformed("a string without end");
      }
      if (*p_ == '"') {
        break;
      }
      if (*p_ != '\\') {
        return malformed("a raw control character in a string");
      }
      if (end_ - p_ > 1 && is_short_escape(p_[1])) {
        flags |= detail::kEscaped;
        p_ += 2;
        continue;
      }
      const Escape escape = read_escape({p_, static_cast<std::size_t>(end_ - p_)});
      if (escape.length == 0) {
        return malformed("an invalid escape in a string");
      }
      flags |= detail::kEscaped;
      flags |= escape.lone_surrogate ? detail::kLoneSurrogate : std::uint8_t{0};
      flags |= escape.value == 0 ? detail::kNul : std::uint8_t{0};
      p_ += escape.length;
    }
    tape_.nodes[index].flags = flags;
    close(index);
    ++p_;
    return true;
  }

  bool array(std::size_t depth) {
    if (depth > limits_.max_depth) {
      return report(Errc::message_too_large, text::cat("nested deeper than ", limits_.max_depth));
    }
    const std::uint32_t index = open(Kind::array);
    ++p_;
    skip_space();
    if (p_ < end_ && *p_ == ']') {
      ++p_;
      close(index);
      return true;
    }
    for (;;) {
      if (!value(depth)) {
        return false;
      }
      skip_space();
      if (p_ == end_ || (*p_ != ',' && *p_ != ']')) {
        return malformed("expected ',' or ']' in an array");
      }
      if (*p_++ == ']') {
        close(index);
        return true;
      }
      skip_space();
    }
  }

  bool key() {
    if (p_ == end_ || *p_ != '"') {
      return malformed("expected a member name in an object");
    }
    const std::size_t index = tape_.nodes.size();
    if (!string()) {
      return false;
    }
    if ((tape_.nodes[index].flags & (detail::kLoneSurrogate | detail::kNul)) != 0) {
      return report(Errc::message_ambiguous, "a member name with a lone surrogate or U+0000");
    }
    skip_space();
    if (p_ == end_ || *p_ != ':') {
      return malformed("expected ':' after a member name");
    }
    ++p_;
    skip_space();
    return true;
  }

  bool object(std::size_t depth) {
    if (depth > limits_.max_depth) {
      return report(Errc::message_too_large, text::cat("nested deeper than ", limits_.max_depth));
    }
    const std::uint32_t index = open(Kind::object);
    ++p_;
    skip_space();
    if (p_ < end_ && *p_ == '}') {
      ++p_;
      close(index);
      return true;
    }
    std::size_t count = 0;
    bool escaped_keys = false;
    for (;;) {
      const std::size_t key_index = tape_.nodes.size();
      if (!key()) {
        return false;
      }
      escaped_keys |= (tape_.nodes[key_index].flags & detail::kEscaped) != 0;
      ++count;
      if (!value(depth)) {
        return false;
      }
      skip_space();
      if (p_ == end_ || (*p_ != ',' && *p_ != '}')) {
        return malformed("expected ',' or '}' in an object");
      }
      if (*p_++ == '}') {
        close(index);
        return keys_unique(index, count, escaped_keys);
      }
      skip_space();
    }
  }

  bool keys_unique(std::uint32_t index, std::size_t count, bool escaped_keys) {
    if (count < 2) {
      return true;
    }
    constexpr std::size_t kFew = 8;
    const bool duplicate = count <= kFew && !escaped_keys ? few_keys_repeat(index) : many_keys_repeat(index, count);
    return !duplicate || report(Errc::message_ambiguous, "an object names a member twice");
  }

  std::string_view key_at(std::uint32_t index) const {
    return {begin_ + tape_.nodes[index].begin, tape_.nodes[index].length};
  }

  bool few_keys_repeat(std::uint32_t index) const {
    const std::uint32_t last = tape_.nodes[index].next;
    for (std::uint32_t a = index + 1; a < last; a = tape_.nodes[a + 1].next) {
      for (std::uint32_t b = tape_.nodes[a + 1].next; b < last; b = tape_.nodes[b + 1].next) {
        if (key_at(a) == key_at(b)) {
          return true;
        }
      }
    }
    return false;
  }

  bool many_keys_repeat(std::uint32_t index, std::size_t count) const {
    std::vector<std::string> decoded;  // owns what unescaping made; reserved so that views stay valid
    decoded.reserve(count);
    std::vector<std::string_view> keys;
    keys.reserve(count);
    const std::uint32_t last = tape_.nodes[index].next;
    for (std::uint32_t a = index + 1; a < last; a = tape_.nodes[a + 1].next) {
      if ((tape_.nodes[a].flags & detail::kEscaped) != 0) {
        keys.emplace_back(decoded.emplace_back(unescape(key_at(a))));
      } else {
        keys.push_back(key_at(a));
      }
    }
    std::ranges::sort(keys);
    return std::ranges::adjacent_find(keys) != keys.end();
  }

  Tape& tape_;
  const Limits& limits_;
  const char* begin_;
  const char* p_;
  const char* end_;
  Error error_;
};

}  // namespace

Result<Document> read_from(std::string& text, const Limits& limits) {
  if (text.size() > limits.max_bytes || text.size() > UINT32_MAX) {
    return fail(Errc::message_too_large, text::cat(text.size(), " bytes, more than ", limits.max_bytes));
  }
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return fail(Errc::message_malformed, "not valid UTF-8");
  }
  auto tape = std::make_unique<Tape>();
  // An ordinary message fits without growing; a long text may hold few values or many.
  tape->nodes.reserve(std::min<std::size_t>(text.size() / 8 + 4, 256));
  tape->text = std::move(text);
  if (Status status = Reader(*tape, limits).run(); !status) {
    text = std::move(tape->text);
    return std::unexpected(std::move(status.error()));
  }
  return Document(std::move(tape));
}

Result<Document> read(std::string text, const Limits& limits) { return read_from(text, limits); }

}  // namespace cordon::json
