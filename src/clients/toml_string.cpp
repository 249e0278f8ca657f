// SPDX-License-Identifier: Apache-2.0
#include "clients/toml_string.hpp"

#include <charconv>

#include "base/text.hpp"

namespace cordon::clients {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::size_t begin) : text_(text), at_(begin), quote_(text[begin]) {}

  TomlString read() {
    const std::size_t begin = at_;
    many_ = text_.substr(at_).starts_with(std::string(3, quote_));
    at_ += many_ ? 3 : 1;
    if (many_) {
      if (text_.substr(at_).starts_with("\r\n")) {
        at_ += 2;
      } else if (text_.substr(at_).starts_with('\n')) {
        ++at_;
      }
    }
    while (out_.fault.empty()) {
      if (at_ >= text_.size()) {
        stop(begin, "a string without end");
      } else if (closes()) {
        break;
      } else {
        one();
      }
    }
    out_.end = at_;
    return out_;
  }

 private:
  void stop(std::size_t at, std::string_view what) {
    out_.fault = what;
    out_.fault_at = at;
  }

  bool closes() {
    if (text_[at_] != quote_) {
      return false;
    }
    if (!many_) {
      ++at_;
      return true;
    }
    std::size_t quotes = 0;
    while (at_ + quotes < text_.size() && text_[at_ + quotes] == quote_) {
      ++quotes;
    }
    if (quotes > 5) {
      stop(at_, "too many quotes");
      return true;
    }
    at_ += quotes;
    out_.value.append(quotes >= 3 ? quotes - 3 : quotes, quote_);
    return quotes >= 3;
  }

  void one() {
    const char c = text_[at_];
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote_) {  // taken by closes(): one or two quotes inside
      return;
    }
    const bool line_end = c == '\n' || (c == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
    if ((line_end && !many_) || (!line_end && ((byte < 0x20 && c != '\t') || byte == 0x7F))) {
      stop(at_, line_end ? "a string without end on its line" : "a control character in a string");
      return;
    }
    if (c == '\\' && quote_ == '"') {
      escape();
      return;
    }
    out_.value += c;
    ++at_;
  }

  void escape() {
    const std::size_t begin = at_++;
    const char kind = at_ < text_.size() ? text_[at_++] : '\0';
    constexpr std::string_view kFrom = "btnfre\"\\";
    constexpr std::string_view kTo = "\b\t\n\f\r\x1B\"\\";
    if (kind == 'u' || kind == 'U') {
      unicode(begin, kind == 'u' ? 4 : 8);
    } else if (const std::size_t found = kFrom.find(kind); kind != '\0' && found != std::string_view::npos) {
      out_.value += kTo[found];
    } else if (many_ && (kind == '\n' || kind == ' ' || kind == '\t' || kind == '\r')) {
      const std::size_t next = text_.find_first_not_of(" \t\r\n", begin + 1);
      if (text_.substr(begin, next - begin).find('\n') == std::string_view::npos) {
        stop(begin, "an escape that is none");
      }
      at_ = next == std::string_view::npos ? text_.size() : next;
    } else {
      stop(begin, "an escape that is none");
    }
  }

  void unicode(std::size_t begin, std::size_t digits) {
    const std::string_view hex = text_.substr(at_, digits);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
    const bool whole = hex.size() == digits && error == std::errc() && end == hex.data() + hex.size();
    if (!whole || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) {
      stop(begin, "an escape that is none");
      return;
    }
    text::append_utf8(out_.value, number);
    at_ += digits;
  }

  std::string_view text_;
  std::size_t at_;
  char quote_;
  bool many_ = false;
  TomlString out_ = {};
};

}  // namespace

TomlString read_toml_string(std::string_view text, std::size_t begin) { return Reader(text, begin).read(); }

}  // namespace cordon::clients
