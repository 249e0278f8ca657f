// SPDX-License-Identifier: Apache-2.0
#include "core/schema/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cordon::schema {
namespace {

// White space of ECMAScript and everything else, as members of a class.
constexpr std::string_view kSpace =
    R"(\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view kNoSpace =
    R"(\x00-\x08\x0e-\x1f\x21-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e})"
    R"(\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view kDot = R"([^\n\r\x{2028}\x{2029}])";

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kCategories = {{{"Letter", "L"},
                                                                                        {"Lowercase_Letter", "Ll"},
                                                                                        {"Uppercase_Letter", "Lu"},
                                                                                        {"Mark", "M"},
                                                                                        {"Number", "N"},
                                                                                        {"Decimal_Number", "Nd"},
                                                                                        {"digit", "Nd"},
                                                                                        {"Punctuation", "P"},
                                                                                        {"punct", "P"},
                                                                                        {"Symbol", "S"},
                                                                                        {"Separator", "Z"},
                                                                                        {"Other", "C"}}};

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Translator {
 public:
  explicit Translator(std::string_view ecma) : in_(ecma) {}

  std::expected<std::string, std::string> run() {
    while (at_ < in_.size() && error_.empty()) {
      step();
    }
    if (error_.empty() && in_class_) {
      error_ = "a class without its end";
    }
    return error_.empty() ? std::expected<std::string, std::string>(std::move(out_)) : std::unexpected(error_);
  }

 private:
  bool next_is(std::string_view text) const { return in_.substr(at_).starts_with(text); }
  void take(std::size_t count, std::string_view translation) {
    at_ += count;
    out_ += translation;
  }

  void step() {
    const char c = in_[at_];
    if (c == '\\') {
      escape();
    } else if (in_class_) {
      in_class_ = c != ']';
      take(1, c == '[' ? std::string_view("\\[") : in_.substr(at_, 1));
    } else if (next_is("[^]")) {
      take(3, R"([\x00-\x{10ffff}])");
    } else if (next_is("[]")) {
      take(2, R"([^\x00-\x{10ffff}])");
    } else if (c == '[') {
      in_class_ = true;
      take(next_is("[^") ? 2 : 1, next_is("[^") ? "[^" : "[");
    } else if (c == '.') {
      take(1, kDot);
    } else if (next_is("(?")) {
      group();
    } else {
      take(1, in_.substr(at_, 1));
    }
  }

  void group() {
    if (next_is("(?:")) {
      take(3, "(?:");
    } else if (next_is("(?<") && !next_is("(?<=") && !next_is("(?<!")) {
      const std::size_t end = in_.find('>', at_);
      if (end == std::string_view::npos) {
        error_ = "a group without a name";
        return;
      }
      take(end - at_ + 1, "(?:");
    } else {
      error_ = "looking ahead or behind, or flags";
    }
  }

  std::optional<std::uint32_t> hex(std::size_t from, std::size_t count) const {
    const std::string_view digits = in_.substr(std::min(from, in_.size()), count);
    if (digits.size() != count || count == 0 || count > 6 || !std::ranges::all_of(digits, is_hex)) {
      return std::nullopt;
    }
    std::uint32_t value = 0;
    for (const char digit : digits) {
      value = value * 16 + static_cast<std::uint32_t>(is_digit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return value;
  }

  void code_point(std::size_t count, std::optional<std::uint32_t> value) {
    if (!value || *value > 0x10FFFF || (*value >= 0xD800 && *value <= 0xDFFF)) {
      error_ = "an escape of no character";
      return;
    }
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string digits;
    for (std::uint32_t rest = *value; rest > 0 || digits.empty(); rest /= 16) {
      digits.insert(digits.begin(), kHex[rest % 16]);
    }
    take(count, text::cat("\\x{", digits, "}"));
  }

  // \uXXXX, a pair of surrogates written so, \u{…}
  void unicode() {
    if (next_is("\\u{")) {
      const std::size_t end = std::min(in_.find('}', at_), in_.size());
      code_point(end - at_ + 1, hex(at_ + 3, end - at_ - 3));
      return;
    }
    const auto first = hex(at_ + 2, 4);
    const auto second = in_.substr(std::min(at_ + 6, in_.size())).starts_with("\\u") ? hex(at_ + 8, 4) : std::nullopt;
    if (first && second && *first >= 0xD800 && *first < 0xDC00 && *second >= 0xDC00 && *second < 0xE000) {
      code_point(12, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
    } else {
      code_point(6, first);
    }
  }

  void property() {
    const std::size_t end = in_.find('}', at_);
    if (at_ + 2 >= in_.size() || in_[at_ + 2] != '{' || end == std::string_view::npos) {
      error_ = "a property without a name";
      return;
    }
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    for (const std::string_view prefix : {"General_Category=", "gc=", "Script=", "sc="}) {
      if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
        break;
      }
    }
    const auto found = std::ranges::find(kCategories, name, [](const auto& entry) { return entry.first; });
    take(end - at_ + 1, text::cat("\\", in_[at_ + 1], "{", found == kCategories.end() ? name : found->second, "}"));
  }

  void escape() {
    if (at_ + 1 >= in_.size()) {
      error_ = "a backslash at the end";
      return;
    }
    const char c = in_[at_ + 1];
    switch (c) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 't':
      case 'n':
      case 'v':
      case 'f':
      case 'r':
        take(2, in_.substr(at_, 2));
        return;
      case 'b':
        take(2, in_class_ ? "\\x08" : "\\b");
        return;
      case 's':
      case 'S': {
        const std::string_view members = c == 's' ? kSpace : kNoSpace;
        take(2, in_class_ ? std::string(members) : text::cat("[", members, "]"));
        return;
      }
      case 'x':
        code_point(4, hex(at_ + 2, 2));
        return;
      case 'u':
        unicode();
        return;
      case 'p':
      case 'P':
        property();
        return;
      default:
        plain_escape(c);
    }
  }

  void plain_escape(char c) {
    const bool digit_follows = at_ + 2 < in_.size() && is_digit(in_[at_ + 2]);
    if (c == 'B' && !in_class_) {
      take(2, "\\B");
    } else if (c == 'c' && at_ + 2 < in_.size() && is_letter(in_[at_ + 2])) {
      code_point(3, static_cast<std::uint32_t>(in_[at_ + 2]) % 32);
    } else if (c == '0' && !digit_follows) {
      code_point(2, 0);
    } else if (is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80 || c < ' ') {
      error_ = "a reference back, or an escape that is none";
    } else {
      take(2, in_.substr(at_, 2));
    }
  }

  std::string_view in_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_ = {};
  std::string error_ = {};
};

// Walks over what makes groups and alternatives of a pattern, and over nothing that is escaped or a member of a class.
struct Outline {
  std::string_view pattern = {};
  std::size_t at = 0;     // behind what was found last
  std::size_t depth = 0;  // of groups that are open there

  // The next of ( ) |; 0 when there is none.
  char next() {
    bool in_class = false;
    while (at < pattern.size()) {
      const char c = pattern[at++];
      if (c == '\\') {
        ++at;
      } else if (in_class) {
        in_class = c != ']';
      } else if (c == '[') {
        in_class = true;
      } else if (c == '(') {
        ++depth;
        return c;
      } else if (c == ')' || c == '|') {
        depth -= c == ')' && depth > 0 ? 1 : 0;
        return c;
      }
    }
    return 0;
  }
};

// Where the group that begins at `from` ends, behind its parenthesis; nothing when it does not.
std::optional<std::size_t> end_of_group(std::string_view pattern, std::size_t from) {
  Outline outline{pattern, from};
  while (const char c = outline.next()) {
    if (c == ')' && outline.depth == 0) {
      return outline.at;
    }
  }
  return std::nullopt;
}

// A | outside of every group: what stands left of it does not bind what stands right of it.
bool has_alternatives(std::string_view pattern) {
  Outline outline{pattern};
  while (const char c = outline.next()) {
    if (c == '|' && outline.depth == 0) {
      return true;
    }
  }
  return false;
}

std::expected<Regex, std::string> translated(std::string_view ecma) {
  auto syntax = re2_syntax(ecma);
  if (!syntax) {
    return std::unexpected(std::move(syntax.error()));
  }
  return Regex::compile(*syntax);
}

}  // namespace

std::expected<std::string, std::string> re2_syntax(std::string_view ecma) { return Translator(ecma).run(); }

std::expected<Pattern, std::string> Pattern::compile(std::string_view ecma) {
  Pattern pattern;
  std::string rest(ecma);
  while (rest.starts_with("^(?=") || rest.starts_with("^(?!")) {
    const auto end = end_of_group(rest, 1);
    if (!end || has_alternatives(rest) || rest.substr(*end).find_first_of("*+?{") == 0) {
      return std::unexpected("looking ahead");
    }
    auto condition = translated(text::cat("^(?:", std::string_view(rest).substr(4, *end - 4)));
    if (!condition) {
      return std::unexpected(std::move(condition.error()));
    }
    (rest[3] == '=' ? pattern.all_ : pattern.none_).push_back(std::move(*condition));
    rest.erase(1, *end - 1);
  }
  auto whole = translated(rest);
  if (!whole) {
    return std::unexpected(std::move(whole.error()));
  }
  pattern.all_.push_back(std::move(*whole));
  return pattern;
}

bool Pattern::matches(std::string_view text) const {
  const auto hits = [&](const Regex& regex) { return regex.partial_match(text); };
  return std::ranges::all_of(all_, hits) && std::ranges::none_of(none_, hits);
}

}  // namespace cordon::schema
