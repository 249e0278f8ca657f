// SPDX-License-Identifier: Apache-2.0
// JSON as editors write it: a byte order mark, comments and trailing commas are understood; all else is as in RFC 8259.
#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "clients/tree.hpp"
#include "core/json/unescape.hpp"

namespace cordon::clients {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Tree> read() {
    Tree tree;
    tree.syntax = Syntax::json;
    tree.root.kind = NodeKind::object;
    at_ = text_.starts_with(kMark) ? kMark.size() : 0;
    if (text_.size() > kMaxConfigBytes) {
      stop(0, "is too large");
    }
    if (!text::valid_utf8(text_)) {
      stop(0, "is not UTF-8");
    }
    blanks();
    if (!error_ && at_ < text_.size()) {
      tree.root = value(0);
      blanks();
      if (!error_ && at_ < text_.size()) {
        stop(at_, "text after the end");
      }
      if (!error_ && tree.root.kind != NodeKind::object) {
        stop(tree.root.span.begin, "is no object");
      }
    }
    if (error_) {
      return std::unexpected(*error_);
    }
    return tree;
  }

 private:
  void stop(std::size_t offset, std::string_view what) {
    if (!error_) {
      error_ = Error{Errc::catalog_invalid, std::string(what), text::cat(file_, ':', place(text_, offset)),
                     "correct it there; until then the file is left alone"};
    }
  }

  // White space and comments.
  void blanks() {
    while (!error_ && at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (text_.substr(at_).starts_with("//")) {
        line_comment();
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          stop(at_, "a comment without end");
          return;
        }
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  // Some readers end it at a carriage return alone, and some at U+2028: what stands behind would be hidden from us.
  void line_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view comment = text_.substr(at_, end - at_);
    comment = comment.ends_with('\r') ? comment.substr(0, comment.size() - 1) : comment;
    for (const std::string_view other : {"\r", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
      if (const std::size_t found = comment.find(other); found != std::string_view::npos) {
        stop(at_ + found, "a comment holds what some readers take for its end");
      }
    }
    at_ = end;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Node value(int depth) {
    if (depth > kMaxConfigDepth) {
      stop(at_, "is nested too deeply");
      return {};
    }
    switch (peek()) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      default:
        return scalar();
    }
  }

  Node string() {
    Node node;
    node.kind = NodeKind::string;
    node.span.begin = at_;
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') {
      if (static_cast<unsigned char>(text_[end]) < 0x20) {
        stop(end, "a control character in a string");
        return node;
      }
      if (text_[end] == '\\' && !escape(end)) {
        return node;
      }
      ++end;
    }
    if (end >= text_.size()) {
      stop(at_, "a string without end");
      return node;
    }
    node.value = json::unescape(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    node.span.end = at_;
    return node;
  }

  // `end` is at a backslash; left at the last byte of the escape.
  bool escape(std::size_t& end) {
    const std::size_t begin = end++;
    const char kind = end < text_.size() ? text_[end] : '\0';
    if (kind == 'u') {
      for (int i = 0; i < 4; ++i) {
        ++end;
        const char c = end < text_.size() ? text_[end] : '\0';
        if (std::string_view("0123456789abcdefABCDEF").find(c) == std::string_view::npos || c == '\0') {
          stop(begin, "an escape that is none");
          return false;
        }
      }
      return true;
    }
    if (kind == '\0' || std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) {
      stop(begin, "an escape that is none");
      return false;
    }
    return true;
  }

  Node scalar() {
    Node node;
    node.span.begin = at_;
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,]}/:\"[{", at_), text_.size());
    node.value = text_.substr(at_, end - at_);
    const std::string& word = node.value;
    const bool number = !word.empty() && word.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                        (word.front() == '-' || (word.front() >= '0' && word.front() <= '9')) && word.back() >= '0' &&
                        word.back() <= '9';
    if (!number && word != "true" && word != "false" && word != "null") {
      stop(at_, at_ < text_.size() ? "is no value of JSON" : "ends too early");
    }
    at_ = end;
    node.span.end = at_;
    return node;
  }

  // After a value inside { or [: true when another may follow.
  bool more(char close) {
    blanks();
    if (peek() == ',') {
      ++at_;
      blanks();
      return true;
    }
    if (peek() != close) {
      stop(at_, at_ < text_.size() ? text::cat("a comma or ", close, " is missing") : "ends too early");
    }
    return false;
  }

  Node array(int depth) {
    Node node;
    node.kind = NodeKind::array;
    node.span.begin = at_++;
    blanks();
    while (!error_ && peek() != ']') {
      node.elements.push_back(value(depth + 1));
      if (error_ || !more(']')) {
        break;
      }
    }
    ++at_;
    node.span.end = at_;
    return node;
  }

  Node object(int depth) {
    Node node;
    node.kind = NodeKind::object;
    node.span.begin = at_++;
    blanks();
    while (!error_ && peek() != '}') {
      if (peek() != '"') {
        stop(at_, at_ < text_.size() ? "a key must be a string in double quotes" : "ends too early");
        break;
      }
      Member member;
      Node key = string();
      member.key = std::move(key.value);
      member.key_span = key.span;
      blanks();
      if (!error_ && peek() != ':') {
        stop(at_, "a colon is missing");
      }
      ++at_;
      blanks();
      if (!error_) {
        member.node = value(depth + 1);
        member.statement = {member.key_span.begin, member.node.span.end};
        node.members.push_back(std::move(member));
      }
      if (error_ || !more('}')) {
        break;
      }
    }
    ++at_;
    node.span.end = at_;
    return node;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::optional<Error> error_ = {};
};

}  // namespace

Result<Tree> read_jsonc(std::string_view text, std::string_view file) { return Reader(text, file).read(); }

}  // namespace cordon::clients
