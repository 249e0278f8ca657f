// SPDX-License-Identifier: Apache-2.0
#include "audit/flat_body.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/plain.hpp"

namespace cordon::audit {
namespace {

constexpr std::size_t kMaxMembers = 24;
constexpr std::size_t kMaxDigits = 15;  // below 2^53

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  bool eat(char c) {
    if (done() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }
  bool eat(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) {
      return false;
    }
    at_ += word.size();
    return true;
  }
  // A string of printable ASCII in which nothing is escaped; its content.
  std::optional<std::string_view> plain_string() {
    if (!eat('"')) {
      return std::nullopt;
    }
    const std::string_view content = text_.substr(at_, text::plain_run(text_.substr(at_)));
    at_ += content.size();
    return eat('"') ? std::optional(content) : std::nullopt;
  }
  bool integer() {
    eat('-');
    const std::size_t begin = at_;
    while (!done() && text_[at_] >= '0' && text_[at_] <= '9') {
      ++at_;
    }
    const std::size_t digits = at_ - begin;
    return digits != 0 && digits <= kMaxDigits && (digits == 1 || text_[begin] != '0');
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_reserved_member(std::string_view key) {
  return key == "seq" || key == "time" || key == "prev" || key == "hash";
}

std::optional<FlatBody> admit_flat_body(std::string_view body, const Masker& masker) {
  if (!masker.empty() && masker.hits(body)) {
    return std::nullopt;
  }
  Scanner scan(body);
  std::array<std::string_view, kMaxMembers> keys;
  std::size_t count = 0;
  FlatBody out;
  if (!scan.eat('{')) {
    return std::nullopt;
  }
  do {
    const auto key = scan.plain_string();
    const auto seen = keys.begin() + static_cast<std::ptrdiff_t>(count);
    if (!key || count == keys.size() || is_reserved_member(*key) || std::find(keys.begin(), seen, *key) != seen ||
        !scan.eat(':')) {
      return std::nullopt;
    }
    keys[count++] = *key;
    if (const auto text = scan.plain_string()) {
      if (*key == kServerTextMember && text->size() > kMaxServerTextBytes) {
        return std::nullopt;
      }
      if (*key == "event") {
        out.event = *text;
      } else if (*key == "from") {
        out.from_server = *text == "server";
      }
    } else if (*key == "event" || !(scan.eat("true") || scan.eat("false") || scan.eat("null") || scan.integer())) {
      return std::nullopt;
    }
  } while (scan.eat(','));
  if (!scan.eat('}') || !scan.done() || std::find(keys.begin(), keys.end(), "event") == keys.end()) {
    return std::nullopt;
  }
  out.members = body.substr(1, body.size() - 2);
  return out;
}

}  // namespace cordon::audit
