// SPDX-License-Identifier: Apache-2.0
// Characters that a reader does not see, and letters that are not what they seem. Ranges are whole blocks of the
// Unicode character database, so that nothing new slips through.
#include <algorithm>
#include <array>

#include "base/hidden.hpp"
#include "base/text.hpp"
#include "core/catalog/cues.hpp"

namespace cordon::catalog {

namespace {

enum class Script : std::uint8_t { none, latin, greek, cyrillic, armenian, hebrew, arabic, cherokee, georgian, other };

struct Range {
  char32_t first;
  char32_t last;
};

bool is_hidden(char32_t point) {
  const text::Hidden what = text::hidden_class(point);
  return what != text::Hidden::none && what != text::Hidden::control;
}

struct ScriptRange {
  char32_t first;
  char32_t last;
  Script script;
};
constexpr std::array kScripts = {
    ScriptRange{0x0041, 0x005A, Script::latin},    ScriptRange{0x0061, 0x007A, Script::latin},
    ScriptRange{0x00C0, 0x024F, Script::latin},    ScriptRange{0x0250, 0x02AF, Script::latin},
    ScriptRange{0x0370, 0x03FF, Script::greek},    ScriptRange{0x0400, 0x052F, Script::cyrillic},
    ScriptRange{0x0530, 0x058F, Script::armenian}, ScriptRange{0x0590, 0x05FF, Script::hebrew},
    ScriptRange{0x0600, 0x06FF, Script::arabic},   ScriptRange{0x10A0, 0x10FF, Script::georgian},
    ScriptRange{0x13A0, 0x13FF, Script::cherokee}, ScriptRange{0x1C80, 0x1C8F, Script::cyrillic},
    ScriptRange{0x1E00, 0x1EFF, Script::latin},    ScriptRange{0x1F00, 0x1FFF, Script::greek},
    ScriptRange{0x2C60, 0x2C7F, Script::latin},    ScriptRange{0x2DE0, 0x2DFF, Script::cyrillic},
    ScriptRange{0xA640, 0xA69F, Script::cyrillic}, ScriptRange{0xA720, 0xA7FF, Script::latin},
    ScriptRange{0xAB70, 0xABBF, Script::cherokee},
};

// Letters that are drawn like ASCII ones by design: full width, mathematical, enclosed, letterlike.
constexpr std::array kLookalikes = {
    Range{0x1D00, 0x1DBF}, Range{0x2070, 0x209F},   Range{0x2100, 0x214F},   Range{0x2460, 0x24FF},
    Range{0xFF01, 0xFF5E}, Range{0x1D400, 0x1D7FF}, Range{0x1F100, 0x1F1FF},
};
// Of those, what ordinary prose uses: degrees, numero, service and trade marks, superior and inferior digits.
constexpr std::array<char32_t, 6> kOrdinary = {0x2103, 0x2109, 0x2116, 0x2120, 0x2122, 0x2139};

bool in(const auto& ranges, char32_t point) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return range.first <= point && point <= range.last; });
}

Script script_of(char32_t point) {
  for (const ScriptRange& range : kScripts) {
    if (range.first <= point && point <= range.last) {
      return point == 0xD7 || point == 0xF7 ? Script::none : range.script;
    }
  }
  return point >= 0x0700 && text::is_visible_letter(point) ? Script::other : Script::none;
}

bool lookalike(char32_t point) {
  const bool superior_digit = point >= 0x2070 && point <= 0x209C;
  const bool mark = point >= 0x1F1E6 && point <= 0x1F1FF;  // flags
  return in(kLookalikes, point) && !superior_digit && !mark && std::ranges::find(kOrdinary, point) == kOrdinary.end();
}

std::string code_name(char32_t point) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (int shift = 20; shift >= 0; shift -= 4) {
    const std::size_t digit = (point >> static_cast<unsigned>(shift)) & 0xFU;
    if (digit != 0 || !out.empty() || shift < 16) {
      out += kDigits[digit];
    }
  }
  return "U+" + out;
}

// Emoji are built with joiners and variation selectors.
bool part_of_emoji(char32_t point, char32_t previous) {
  const bool picture = (previous >= 0x2190 && previous < 0x3300) || (previous >= 0x1F000 && previous < 0x20000);
  const bool keycap = (previous >= '0' && previous <= '9') || previous == '#' || previous == '*' || previous == 0xA9 ||
                      previous == 0xAE;
  return point == 0x200D                      ? picture || previous == 0xFE0F
         : point == 0xFE0E || point == 0xFE0F ? picture || keycap
                                              : false;
}

class Scanner {
 public:
  explicit Scanner(Findings& findings) : findings_(findings) {}

  void run(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const text::CodePoint point = text::decode_utf8(text, i);
      const std::size_t length = std::max<std::size_t>(1, point.length);
      if (point.length == 0) {
        add_finding(findings_, CueKind::control_characters, "invalid UTF-8");
        end_word();
      } else {
        take(point.value, text.substr(i, length));
      }
      i += length;
    }
    end_word();
    finish();
  }

 private:
  void take(char32_t point, std::string_view bytes) {
    const char32_t previous = previous_;
    previous_ = point;
    if (point == 0x1B || point == 0x9B) {
      add_finding(findings_, CueKind::terminal_escape, code_name(point));
    } else if ((point < 0x20 && point != '\n' && point != '\t' && point != '\r') || (point >= 0x7F && point < 0xA0)) {
      add_finding(findings_, CueKind::control_characters, code_name(point));
    } else if (is_hidden(point)) {
      if (!part_of_emoji(point, previous)) {
        add_finding(findings_, CueKind::hidden_characters, code_name(point));
      }
      return;  // such a character does not end a word for the eye
    } else if (lookalike(point)) {
      add_finding(findings_, CueKind::confusable, bytes);
    }
    const Script script = script_of(point);
    if (script == Script::none) {
      end_word();
      return;
    }
    word_ += bytes;
    scripts_ |= 1U << static_cast<unsigned>(script);
  }

  static unsigned bit(Script script) { return 1U << static_cast<unsigned>(script); }

  void end_word() {
    if (word_.empty()) {
      return;
    }
    const unsigned ours = scripts_;
    const bool several = (ours & (ours - 1)) != 0;
    // Scripts with letters that look like Latin ones.
    const unsigned look = bit(Script::greek) | bit(Script::cyrillic) | bit(Script::armenian) | bit(Script::cherokee) |
                          bit(Script::georgian);
    const bool micro = word_.starts_with("\xCE\xBC") && word_.size() <= 4;  // a unit
    if (several && (ours & look) != 0 && !micro) {
      add_finding(findings_, CueKind::mixed_script, word_);
    } else if (ours == bit(Script::latin)) {
      ++latin_words_;
    } else if (!several && (ours & look) != 0 && word_.size() >= 4) {
      ++other_words_;
      if (others_.size() < 4) {
        others_.push_back(word_);
      }
    }
    word_.clear();
    scripts_ = 0;
  }

  // A few words of such a script inside a Latin text; a text that is written in it throughout is only that.
  void finish() {
    if (other_words_ != 0 && latin_words_ >= 4 * other_words_) {
      for (const std::string& word : others_) {
        add_finding(findings_, CueKind::mixed_script, word);
      }
    }
  }

  Findings& findings_;
  char32_t previous_ = 0;
  std::string word_ = {};
  unsigned scripts_ = 0;
  std::size_t latin_words_ = 0;
  std::size_t other_words_ = 0;
  std::vector<std::string> others_ = {};
};

}  // namespace

void find_characters(std::string_view text, Findings& findings) {
  const bool plain = std::ranges::all_of(text, [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\n'; });
  if (!plain) {
    Scanner(findings).run(text);
  }
}

std::string folded_for_cues(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x80) {
      const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
      if (!blank) {
        out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
      } else if (!out.empty() && out.back() != ' ') {
        out += ' ';
      }
      ++i;
      continue;
    }
    const text::CodePoint point = text::decode_utf8(text, i);
    const std::size_t length = std::max<std::size_t>(1, point.length);
    if (point.value == 0x2019) {
      out += '\'';  // typographic apostrophe
    } else if (point.value >= 0xFF01 && point.value <= 0xFF5E) {
      out += text::lower_ascii(std::string(1, static_cast<char>(point.value - 0xFEE0)));
    } else if (!is_hidden(point.value)) {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace cordon::catalog
