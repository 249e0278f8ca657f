// SPDX-License-Identifier: Apache-2.0
#include "clients/tree.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon::clients {

Node::Node() = default;
Node::Node(const Node& other) = default;
Node::Node(Node&& other) noexcept = default;
Node& Node::operator=(const Node& other) = default;
Node& Node::operator=(Node&& other) noexcept = default;
Node::~Node() = default;

std::size_t count(const Node& object, std::string_view key) {
  return static_cast<std::size_t>(std::ranges::count(object.members, key, &Member::key));
}

const Member* find(const Node& object, std::string_view key) {
  const auto found = std::ranges::find(object.members, key, &Member::key);
  return found != object.members.end() && count(object, key) == 1 ? &*found : nullptr;
}

std::string place(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t line_begin = before == std::string_view::npos ? 0 : before + 1;
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_begin), '\n');
  const auto column = std::ranges::count_if(text.substr(line_begin, offset - line_begin),
                                            [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return text::cat(lines + 1, ':', column + 1);
}

bool same_values(const Node& left, const Node& right) {
  return left.kind == right.kind && left.value == right.value &&
         std::ranges::equal(left.elements, right.elements, same_values) &&
         std::ranges::equal(left.members, right.members, [](const Member& a, const Member& b) {
           return a.key == b.key && same_values(a.node, b.node);
         });
}

Result<Tree> read_tree(Syntax syntax, std::string_view text, std::string_view file) {
  switch (syntax) {
    case Syntax::json:
      return read_jsonc(text, file);
    case Syntax::toml:
      return read_toml(text, file);
  }
  return fail(Errc::internal, "an unknown syntax", std::string(file));
}

}  // namespace cordon::clients
