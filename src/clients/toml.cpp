// SPDX-License-Identifier: Apache-2.0
// TOML 1.0, as far as a config must be understood to change a few strings in it: tables, dotted keys, inline tables,
// arrays and the four kinds of strings. Numbers and dates are taken as words.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "clients/toml_string.hpp"
#include "clients/tree.hpp"

namespace cordon::clients {
namespace {

using Made = Node::Made;

constexpr std::string_view kMark = "\xEF\xBB\xBF";

struct KeyPart {
  std::string key = {};
  Span span = {};
};

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Tree> read() {
    tree_.syntax = Syntax::toml;
    tree_.root.kind = NodeKind::object;
    tree_.root.made = Made::header;
    at_ = text_.starts_with(kMark) ? kMark.size() : 0;
    if (text_.size() > kMaxConfigBytes) {
      stop(0, "is too large");
    }
    if (!text::valid_utf8(text_)) {
      stop(0, "is not UTF-8");
    }
    table_ = &tree_.root;
    lines();
    while (!error_ && at_ < text_.size()) {
      if (text_[at_] == '[') {
        header();
      } else {
        key_value(*table_, 0, true);
      }
      line_end();
      lines();
    }
    if (error_) {
      return std::unexpected(*error_);
    }
    return std::move(tree_);
  }

 private:
  void stop(std::size_t offset, std::string_view what) {
    if (!error_) {
      error_ = Error{Errc::catalog_invalid, std::string(what), text::cat(file_, ':', place(text_, offset)),
                     "correct it there; until then the file is left alone"};
    }
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  // Spaces, line ends and comments.
  void lines() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  // What may stand behind a header or a value.
  void line_end() {
    if (error_) {
      return;
    }
    spaces();
    if (at_ < text_.size() && peek() != '#' && peek() != '\n' && !text_.substr(at_).starts_with("\r\n")) {
      stop(at_, "something stands behind the end of the value");
    }
  }

  std::vector<KeyPart> key() {
    std::vector<KeyPart> parts;
    while (!error_) {
      spaces();
      KeyPart part;
      part.span.begin = at_;
      if (peek() == '"' || peek() == '\'') {
        if (text_.substr(at_).starts_with(R"(""")") || text_.substr(at_).starts_with("'''")) {
          stop(at_, "a key cannot be a string of several lines");
          break;
        }
        part.key = quoted();
      } else {
        while (at_ < text_.size() && is_bare(text_[at_])) {
          ++at_;
        }
        part.key = text_.substr(part.span.begin, at_ - part.span.begin);
        if (part.key.empty()) {
          stop(at_, at_ < text_.size() ? "a key is missing" : "ends too early");
        }
      }
      part.span.end = at_;
      parts.push_back(std::move(part));
      const std::size_t behind = at_;
      spaces();
      if (peek() != '.') {
        at_ = behind;
        break;
      }
      ++at_;
      if (parts.size() > static_cast<std::size_t>(kMaxConfigDepth)) {
        stop(at_, "is nested too deeply");
      }
    }
    return parts;
  }

  std::string quoted() {
    TomlString read = read_toml_string(text_, at_);
    if (!read.fault.empty()) {
      stop(read.fault_at, read.fault);
    }
    at_ = std::max(read.end, at_ + 1);
    return std::move(read.value);
  }

  static Member* member_of(Node& table, std::string_view key) {
    const auto found = std::ranges::find(table.members, key, &Member::key);
    return found == table.members.end() ? nullptr : &*found;
  }

  static Node& add_table(Node& table, const KeyPart& part, Span statement, Made made) {
    Member member;
    member.key = part.key;
    member.key_span = part.span;
    member.statement = statement;
    member.node.kind = NodeKind::object;
    member.node.made = made;
    table.members.push_back(std::move(member));
    return table.members.back().node;
  }

  // The table below `table`; nullptr, after a fault, for what cannot be continued.
  Node* descend(Node& table, const KeyPart& part, Span statement, Made made) {
    Member* found = member_of(table, part.key);
    if (found == nullptr) {
      return &add_table(table, part, statement, made);
    }
    Node& node = found->node;
    if (node.made == Made::list && made == Made::implied) {
      return &node.elements.back();
    }
    const bool open = made == Made::implied ? node.made != Made::value && node.made != Made::list
                                            : node.made == Made::dotted || node.made == Made::implied;
    if (node.kind != NodeKind::object || !open) {
      stop(part.span.begin, text::cat("'", text::printable(part.key, 100), "' is defined already"));
      return nullptr;
    }
    return &node;
  }

  void header() {
    const std::size_t begin = at_;
    const bool list = text_.substr(at_).starts_with("[[");
    at_ += list ? 2 : 1;
    const std::vector<KeyPart> parts = key();
    spaces();
    if (error_) {
      return;
    }
    if (!text_.substr(at_).starts_with(list ? "]]" : "]")) {
      stop(at_, "a closing bracket is missing");
      return;
    }
    at_ += list ? 2 : 1;
    const Span statement{begin, at_};
    Node* table = &tree_.root;
    for (std::size_t i = 0; i + 1 < parts.size() && table != nullptr; ++i) {
      table = descend(*table, parts[i], statement, Made::implied);
    }
    if (table == nullptr) {
      return;
    }
    table_ = list ? list_element(*table, parts.back(), statement) : named_table(*table, parts.back(), statement);
  }

  Node* named_table(Node& parent, const KeyPart& part, Span statement) {
    Member* found = member_of(parent, part.key);
    if (found == nullptr) {
      return &add_table(parent, part, statement, Made::header);
    }
    if (found->node.kind != NodeKind::object || found->node.made != Made::implied) {
      stop(part.span.begin, text::cat("'", text::printable(part.key, 100), "' is defined already"));
      return table_;
    }
    found->node.made = Made::header;
    found->key_span = part.span;
    found->statement = statement;
    return &found->node;
  }

  Node* list_element(Node& parent, const KeyPart& part, Span statement) {
    Member* found = member_of(parent, part.key);
    Node& list = found == nullptr ? add_table(parent, part, statement, Made::list) : found->node;
    if (found != nullptr && list.made != Made::list) {
      stop(part.span.begin, text::cat("'", text::printable(part.key, 100), "' is defined already"));
      return table_;
    }
    list.kind = NodeKind::array;
    Node element;
    element.kind = NodeKind::object;
    element.made = Made::header;
    list.elements.push_back(std::move(element));
    return &list.elements.back();
  }

  void key_value(Node& table, int depth, bool own_line) {
    const std::size_t begin = at_;
    const std::vector<KeyPart> parts = key();
    spaces();
    if (!error_ && peek() != '=') {
      stop(at_, at_ < text_.size() ? "an equals sign is missing" : "ends too early");
    }
    ++at_;
    spaces();
    if (error_) {
      return;
    }
    Node read = value(depth + 1);
    const Span statement{begin, read.span.end};
    Node* parent = &table;
    for (std::size_t i = 0; i + 1 < parts.size() && parent != nullptr && !error_; ++i) {
      parent = descend(*parent, parts[i], statement, Made::dotted);
    }
    if (parent == nullptr || error_) {
      return;
    }
    if (member_of(*parent, parts.back().key) != nullptr) {
      stop(parts.back().span.begin, text::cat("'", text::printable(parts.back().key, 100), "' is defined already"));
      return;
    }
    parent->members.push_back({parts.back().key, parts.back().span, statement, own_line, std::move(read)});
  }

  Node value(int depth) {
    Node node;
    node.span.begin = at_;
    if (depth > kMaxConfigDepth) {
      stop(at_, "is nested too deeply");
      return node;
    }
    if (peek() == '"' || peek() == '\'') {
      node.kind = NodeKind::string;
      node.value = quoted();
    } else if (peek() == '[') {
      array(node, depth);
    } else if (peek() == '{') {
      inline_table(node, depth);
    } else {
      word(node);
    }
    node.span.end = at_;
    return node;
  }

  void word(Node& node) {
    const auto fits = [](char c) { return is_bare(c) || c == '+' || c == '.' || c == ':'; };
    while (at_ < text_.size() && fits(text_[at_])) {
      ++at_;
    }
    // A date and a time may have a space between them.
    const std::size_t length = at_ - node.span.begin;
    if (length == 10 && text_[node.span.begin + 4] == '-' && at_ + 1 < text_.size() && text_[at_] == ' ' &&
        text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9') {
      ++at_;
      while (at_ < text_.size() && fits(text_[at_])) {
        ++at_;
      }
    }
    node.value = text_.substr(node.span.begin, at_ - node.span.begin);
    const std::string& out = node.value;
    const auto known = std::to_array<std::string_view>({"true", "false", "inf", "+inf", "-inf", "nan", "+nan", "-nan"});
    const bool number = !out.empty() && ((out.front() >= '0' && out.front() <= '9') ||
                                         ((out.front() == '+' || out.front() == '-') && out.size() > 1));
    if (!number && std::ranges::find(known, out) == known.end()) {
      stop(node.span.begin, node.span.begin < text_.size() ? "is no value of TOML" : "ends too early");
    }
  }

  void array(Node& node, int depth) {
    node.kind = NodeKind::array;
    ++at_;
    lines();
    while (!error_ && peek() != ']') {
      node.elements.push_back(value(depth + 1));
      lines();
      if (peek() == ',') {
        ++at_;
        lines();
      } else if (!error_ && peek() != ']') {
        stop(at_, at_ < text_.size() ? "a comma or ] is missing" : "ends too early");
      }
    }
    ++at_;
  }

  void inline_table(Node& node, int depth) {
    node.kind = NodeKind::object;
    ++at_;
    spaces();
    while (!error_ && peek() != '}') {
      key_value(node, depth, false);
      spaces();
      if (peek() == ',') {
        ++at_;
        spaces();
        if (peek() == '}') {
          stop(at_, "a comma before the end of an inline table");
        }
      } else if (!error_ && peek() != '}') {
        stop(at_, at_ < text_.size() ? "a comma or } is missing" : "ends too early");
      }
    }
    ++at_;
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  Tree tree_ = {};
  Node* table_ = nullptr;
  std::optional<Error> error_ = {};
};

}  // namespace

Result<Tree> read_toml(std::string_view text, std::string_view file) { return Reader(text, file).read(); }

}  // namespace cordon::clients
