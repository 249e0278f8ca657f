// SPDX-License-Identifier: Apache-2.0
#include "core/policy/argument_pointer.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

using json::Kind;
using json::Value;
using Place = ArgumentPointer::Place;

// The index that an array's token names; nothing for any other spelling (01, -, +1).
std::optional<std::size_t> index_of(std::string_view token) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size() || std::to_string(index) != token) {
    return std::nullopt;
  }
  return index;
}

void step(const Place& from, const std::string& token, std::vector<Place>& out) {
  const std::string below = text::cat(from.pointer, '/', pointer_token(token));
  if (!from.value) {
    out.push_back({below, {}, from.wrong_kind});
    return;
  }
  const Value& at = from.value;
  if (!at.is(Kind::object) && !at.is(Kind::array)) {
    out.push_back({below, {}, true});
    return;
  }
  if (token == "*") {
    const std::size_t before = out.size();
    for (const json::Member member : at.members()) {
      out.push_back({text::cat(from.pointer, '/', pointer_token(member.key.string())), member.value, false});
    }
    std::size_t index = 0;
    for (const Value element : at.elements()) {
      out.push_back({text::cat(from.pointer, '/', index++), element, false});
    }
    if (out.size() == before) {
      out.push_back({below, {}, false});
    }
    return;
  }
  if (at.is(Kind::array)) {
    const auto index = index_of(token);
    out.push_back({below, index ? at.at(*index) : Value(), !index});
    return;
  }
  out.push_back({below, at.find(token), false});
}

}  // namespace

std::string pointer_token(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

Result<ArgumentPointer> ArgumentPointer::parse(std::string_view text) {
  if (!text.starts_with('/')) {
    return fail(Errc::policy_invalid, "a pointer begins with /, as in /path or /edits/*/path");
  }
  ArgumentPointer out;
  for (const std::string_view part : text::split(text.substr(1), '/')) {
    std::string token;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') {
        token += part[i];
        continue;
      }
      const char next = i + 1 < part.size() ? part[++i] : ' ';
      if (next != '0' && next != '1') {
        return fail(Errc::policy_invalid, "in a pointer ~0 stands for ~ and ~1 for /, and ~ cannot stand alone");
      }
      token += next == '0' ? '~' : '/';
    }
    out.tokens_.push_back(std::move(token));
  }
  return out;
}

std::vector<Place> ArgumentPointer::places(const Value& arguments) const {
  std::vector<Place> now = {{"", arguments, false}};
  for (const std::string& token : tokens_) {
    std::vector<Place> next;
    for (const Place& place : now) {
      step(place, token, next);
    }
    now = std::move(next);
  }
  return now;
}

}  // namespace cordon::policy
