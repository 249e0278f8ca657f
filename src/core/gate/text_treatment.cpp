// SPDX-License-Identifier: Apache-2.0
#include "core/gate/text_treatment.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#if defined(__x86_64__)
#include <tmmintrin.h>
#define CORDON_HAS_BLOCKS 1
#endif

#include "base/hidden.hpp"
#include "base/text.hpp"
#include "core/gate/own_name.hpp"

namespace cordon::gate {
namespace {

using text::Hidden;

constexpr char32_t kNothing = 0;

// What nobody sees wherever it stands. A variation selector may belong to what is before it; a line separator breaks
// the line.
bool is_unseen(char32_t point) {
  const Hidden what = text::hidden_class(point);
  return what != Hidden::none && what != Hidden::control && what != Hidden::variation && what != Hidden::separator;
}

// Control characters that a person sees as the end of a word.
bool is_blank(char32_t point) { return (point >= '\t' && point <= '\r') || point == 0x85; }

bool is_variation(char32_t point) { return text::hidden_class(point) == Hidden::variation; }

// Blocks that are written from right to left.
bool is_right_to_left(char32_t point) {
  return (point >= 0x0590 && point <= 0x08FF) || (point >= 0xFB1D && point <= 0xFDFF) ||
         (point >= 0xFE70 && point <= 0xFEFE);
}

// Does the UTF-8 of any of the above, or of a control from U+007F on, stand here? Told by its first three bytes.
bool may_stand_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned next = byte(at + 1);
  const unsigned third = byte(at + 2);
  switch (byte(at)) {
    case 0x7F:
    case 0xF3:
      return true;
    case 0xC2:
      return next == 0xAD || next < 0xA0;
    case 0xCD:
      return next == 0x8F;
    case 0xD8:
      return next == 0x9C;
    case 0xE1:
      return next == 0x85 || next == 0x9E || next == 0xA0;
    case 0xE2:
      return (next == 0x80 && ((third >= 0x8B && third <= 0x8F) || third >= 0xA8)) || (next == 0x81 && third >= 0xA0);
    case 0xE3:
      return next == 0x85 && third == 0xA4;
    case 0xEF:
      return next == 0xB8 || (next == 0xBB && third == 0xBF) || (next == 0xBE && third == 0xA0) || next == 0xBF;
    case 0xF0:
      return (next == 0x9B && third == 0xB2) || (next == 0x9D && third == 0x85);
    default:
      return false;
  }
}

// Bytes from here on that are printable ASCII.
std::size_t plain_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= ' ' && text[end] < 0x7F) {
    ++end;
  }
  return end - at;
}

class HiddenText {
 public:
  HiddenText(std::string_view text, std::size_t& found) : text_(text), found_(found) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (const std::size_t plain = plain_length(text_, at_); plain > 0) {
        keep(plain, static_cast<unsigned char>(text_[at_ + plain - 1]));
        continue;
      }
      const text::CodePoint here = text::decode_utf8(text_, at_);
      const std::size_t length = std::max<std::size_t>(here.length, 1);
      if (const std::size_t flag = flag_length(here.value); flag > 0) {
        out_ += text_.substr(at_, flag);
        at_ += flag;
        before_ = here.value;
      } else if (is_hidden(here.value, at_ + length)) {
        ++found_;
        at_ += length;
      } else {
        keep(length, here.value);
      }
    }
    return std::move(out_);
  }

 private:
  void keep(std::size_t length, char32_t point) {
    out_ += text_.substr(at_, length);
    at_ += length;
    before_ = point;
  }

  // A black flag, tags that name a region, and their end: one emoji.
  std::size_t flag_length(char32_t point) const {
    constexpr std::size_t kMostTags = 8;
    if (point != 0x1F3F4) {
      return 0;
    }
    std::size_t at = at_ + 4;
    for (std::size_t tags = 0; tags < kMostTags && at < text_.size(); ++tags) {
      const text::CodePoint tag = text::decode_utf8(text_, at);
      at += tag.length;
      if (tag.value == 0xE007F && tags > 1) {
        return at - at_;
      }
      const bool letter =
          (tag.value >= 0xE0061 && tag.value <= 0xE007A) || (tag.value >= 0xE0030 && tag.value <= 0xE0039);
      if (!letter) {
        return 0;
      }
    }
    return 0;
  }

  bool is_hidden(char32_t point, std::size_t next_at) const {
    if (is_variation(point)) {
      // One behind a character that is seen; more of them could spell anything.
      return before_ == kNothing || before_ <= ' ' || is_variation(before_);
    }
    if (!is_unseen(point)) {
      return false;
    }
    const char32_t next = next_at < text_.size() ? text::decode_utf8(text_, next_at).value : kNothing;
    const Hidden what = text::hidden_class(point);
    if (what == Hidden::joiner) {
      return before_ < 0x80 || next < 0x80 || is_unseen(next) || is_variation(next);
    }
    return what != Hidden::mark || (!is_right_to_left(before_) && !is_right_to_left(next));
  }

  std::string_view text_;
  std::size_t& found_;
  std::size_t at_ = 0;
  std::string out_ = {};
  char32_t before_ = kNothing;
};

class Escapes {
 public:
  explicit Escapes(std::string_view text) : text_(text) {}

  std::string without(std::size_t& found) {
    std::string out;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t plain = plain_length(text_, at);
      out += text_.substr(at, plain);
      at += plain;
      if (at == text_.size()) {
        break;
      }
      const std::size_t length = length_at(at);
      if (length > 0) {
        ++found;
        at += length;
      } else {
        out += text_[at++];
      }
    }
    return out;
  }

  // Of the control, and the sequence that it begins, at this place; 0 when there is none. Places come in their order.
  std::size_t length_at(std::size_t at) {
    at_ = at;
    return control_length();
  }

 private:
  unsigned char byte(std::size_t at) const { return at < text_.size() ? static_cast<unsigned char>(text_[at]) : 0; }

  std::size_t control_length() {
    const unsigned char c = byte(at_);
    if (c == 0x1B) {
      return sequence_length(byte(at_ + 1), 2);
    }
    if (c == 0xC2 && byte(at_ + 1) >= 0x80 && byte(at_ + 1) <= 0x9F) {
      // One character of the second set of controls stands for ESC and the character 0x40 below it.
      return byte(at_ + 1) == 0x85 ? 0 : sequence_length(static_cast<unsigned char>(byte(at_ + 1) - 0x40), 2);
    }
    // U+0000 does nothing on a terminal; dumps of binary files are full of it.
    const bool usual = c == '\0' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
    return (c < ' ' && !usual) || c == 0x7F ? 1 : 0;
  }

  std::size_t sequence_length(unsigned char kind, std::size_t length) {
    switch (kind) {
      case '[':
        while (byte(at_ + length) >= 0x20 && byte(at_ + length) <= 0x3F) {
          ++length;
        }
        return length + (byte(at_ + length) >= 0x40 && byte(at_ + length) <= 0x7E ? 1 : 0);
      case ']':
      case 'P':
      case 'X':
      case '^':
      case '_':
        return string_length(length);
      default:
        if (kind >= 0x20 && kind <= 0x2F) {
          while (byte(at_ + length) >= 0x20 && byte(at_ + length) <= 0x2F) {
            ++length;
          }
          return length + (byte(at_ + length) >= 0x30 && byte(at_ + length) <= 0x7E ? 1 : 0);
        }
        // A lone ESC takes nothing else with it that a person would see.
        return kind >= 0x40 && kind <= 0x7E ? length : 1;
    }
  }

  // Up to its end (BEL, ESC \ or U+009C). Without one only what begins it is taken: the rest is text.
  std::size_t string_length(std::size_t length) {
    if (at_ >= no_end_from_) {
      return length;
    }
    for (std::size_t i = at_ + length; i < text_.size(); ++i) {
      if (byte(i) == 0x07) {
        return i + 1 - at_;
      }
      if ((byte(i) == 0x1B && byte(i + 1) == '\\') || (byte(i) == 0xC2 && byte(i + 1) == 0x9C)) {
        return i + 2 - at_;
      }
    }
    no_end_from_ = at_;
    return length;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t no_end_from_ = std::string_view::npos;
};

// \uXXXX of a character that is looked for, of a half of a pair that may be one, or of what cannot be told.
bool escape_is_worth_it(std::string_view escape) {
  const std::optional<char32_t> unit = escaped_unit(escape);
  return !unit || *unit == 0xD82F || *unit == 0xD834 || (*unit >= 0xDB40 && *unit <= 0xDB43) ||
         text::hidden_class(*unit) != Hidden::none;
}

bool is_worth_it_at(std::string_view raw_json, std::size_t at) {
  const auto byte = static_cast<unsigned char>(raw_json[at]);
  if (byte >= 0x7F) {
    return may_stand_at(raw_json, at);
  }
  if (byte == '"') {
    return begins_as_us(raw_json.substr(at + 1), Spelling::raw_json);
  }
  switch (at + 1 < raw_json.size() ? raw_json[at + 1] : '\0') {
    case 'u':
      return escape_is_worth_it(raw_json.substr(std::min(at + 2, raw_json.size()), 4));
    case 'b':
      return true;
    case 'n':
    case 'r':
    case 'f':
      return begins_as_us(raw_json.substr(std::min(at + 2, raw_json.size())), Spelling::raw_json);
    default:
      return false;
  }
}

constexpr std::size_t kBlock = 16;

// Bytes that begin something to look at, by their halves: the bits that a low and a high half have in common.
struct Halves {
  alignas(16) std::array<std::uint8_t, 16> low = {};
  alignas(16) std::array<std::uint8_t, 16> high = {};

  constexpr bool both(unsigned char byte) const { return (low.at(byte & 0xFU) & high.at(byte >> 4U)) != 0; }
};

constexpr Halves kSpecial = [] {
  Halves halves;
  unsigned bit = 0;
  // Each high half has a bit of its own. Beside quotes and backslashes: the first bytes that may_stand_at knows.
  for (const std::string_view row : {"\"", "\\", "\x7F", "\xC2\xCD", "\xD8", "\xE1\xE2\xE3\xEF", "\xF0\xF3"}) {
    for (const char c : row) {
      const auto byte = static_cast<unsigned char>(c);
      halves.low.at(byte & 0xFU) |= static_cast<std::uint8_t>(1U << bit);
      halves.high.at(byte >> 4U) |= static_cast<std::uint8_t>(1U << bit);
    }
    ++bit;
  }
  return halves;
}();
static_assert(kSpecial.both('"') && kSpecial.both('\\') && !kSpecial.both('n') && !kSpecial.both(0xC3));

#ifdef CORDON_HAS_BLOCKS

bool has_blocks() {
  static const bool has = __builtin_cpu_supports("ssse3") != 0;
  return has;
}

__attribute__((target("ssse3"))) std::uint32_t special_in_block(const char* text) {
  const __m128i half = _mm_set1_epi8(0xF);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i low = _mm_load_si128(reinterpret_cast<const __m128i*>(kSpecial.low.data()));
  const __m128i high = _mm_load_si128(reinterpret_cast<const __m128i*>(kSpecial.high.data()));
  const __m128i both = _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(bytes, half)),
                                     _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(bytes, 4), half)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(both, _mm_setzero_si128()))) ^ 0xFFFFU;
}

// The first block from `at` on with a special byte, or the first that is not whole.
__attribute__((target("ssse3"))) std::size_t skip_blocks(std::string_view text, std::size_t at) {
  while (at + kBlock <= text.size() && special_in_block(text.data() + at) == 0) {
    at += kBlock;
  }
  return at;
}

#endif

// A bit for each of the next bytes, at most kBlock, that is special. Blocks without one are passed over.
std::uint32_t special_from(std::string_view text, std::size_t& at) {
#ifdef CORDON_HAS_BLOCKS
  if (has_blocks()) {
    at = skip_blocks(text, at);
    if (at + kBlock <= text.size()) {
      return special_in_block(text.data() + at);
    }
  }
#endif
  std::uint32_t special = 0;
  for (std::size_t i = 0; i < kBlock && at + i < text.size(); ++i) {
    special |= kSpecial.both(static_cast<unsigned char>(text[at + i])) ? 1U << i : 0U;
  }
  return special;
}

}  // namespace

Glance glance_at(std::string_view raw_json) {
  Glance found;
  if (begins_as_us(raw_json, Spelling::raw_json)) {
    found.worth_a_look = true;
    return found;
  }
  std::size_t at = 0;
  while (at < raw_json.size()) {
    std::uint32_t special = special_from(raw_json, at);
    const std::size_t end = std::min(at + kBlock, raw_json.size());
    std::size_t next = at;
    for (; special != 0; special &= special - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(special));
      if (place < next) {
        continue;  // behind its backslash
      }
      if (is_worth_it_at(raw_json, place)) {
        found.worth_a_look = true;
        return found;
      }
      next = place + 1;
      if (raw_json[place] == '\\') {
        const char escaped = next < raw_json.size() ? raw_json[next] : '\0';
        found.spelled = found.spelled || escaped == 'u' || escaped == '/';
        ++next;
      }
    }
    at = std::max(end, next);
  }
  return found;
}

std::string without_terminal_escapes(std::string_view text, std::size_t& found) { return Escapes(text).without(found); }

std::string without_hidden_text(std::string_view text, std::size_t& found) { return HiddenText(text, found).run(); }

std::size_t Seen::origin(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(cuts, offset, {}, &Cut::seen);
  return after == cuts.begin() ? offset : (after - 1)->origin + (offset - (after - 1)->seen);
}

Seen seen_text(std::string_view text, Drop drop) {
  Seen out;
  Escapes escapes(text);
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t plain = plain_length(text, at); plain > 0) {
      out.text += text.substr(at, plain);
      at += plain;
      continue;
    }
    const text::CodePoint here = text::decode_utf8(text, at);
    std::size_t length = drop == Drop::sequences ? escapes.length_at(at) : 0;
    if (length == 0 && text::hidden_class(here.value) != Hidden::none && here.length > 0 && !is_blank(here.value)) {
      length = here.length;
    }
    if (length == 0) {
      const std::size_t kept = std::max<std::size_t>(here.length, 1);
      out.text += text.substr(at, kept);
      at += kept;
      continue;
    }
    at += length;
    if (out.cuts.empty() || out.cuts.back().seen != out.text.size()) {
      out.cuts.push_back({out.text.size(), at});
    }
    out.cuts.back().origin = at;
  }
  return out;
}

}  // namespace cordon::gate
