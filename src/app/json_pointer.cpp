// SPDX-License-Identifier: Apache-2.0
#include "app/json_pointer.hpp"

#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "base/text.hpp"
#include "core/json/limits.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::app {
namespace {

using Tokens = std::span<const std::string>;

// "~1" is a slash and "~0" a tilde; any other tilde is an error.
std::optional<std::string> decoded(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out += token[i];
    } else if (i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out += token[++i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::size_t> position(std::string_view token, std::size_t size) {
  std::size_t out = 0;
  const auto end = std::from_chars(token.data(), token.data() + token.size(), out);
  const bool whole = end.ec == std::errc() && end.ptr == token.data() + token.size();
  if (token == "-") {
    return size;
  }
  return whole && out <= size && (token.size() == 1 || token.front() != '0') ? std::optional(out) : std::nullopt;
}

// False when a token leads nowhere.
bool write_with(json::Writer& out, const json::Value& value, Tokens left, std::string_view replacement) {
  if (left.empty()) {
    out.raw(replacement);
    return true;
  }
  if (value.is(json::Kind::array)) {
    const std::optional<std::size_t> place = position(left.front(), value.size());
    bool fine = place.has_value();
    std::size_t index = 0;
    out.begin_array();
    for (const json::Value element : value.elements()) {
      if (place == index) {
        fine = write_with(out, element, left.subspan(1), replacement) && fine;
      } else {
        out.value(element);
      }
      ++index;
    }
    if (place == index) {
      fine = write_with(out, {}, left.subspan(1), replacement) && fine;
    }
    out.end_array();
    return fine;
  }
  bool fine = !value || value.is(json::Kind::object);
  bool done = false;
  out.begin_object();
  for (const json::Member member : value.members()) {
    out.key(member.key.string());
    if (member.key.string_equals(left.front())) {
      done = true;
      fine = write_with(out, member.value, left.subspan(1), replacement) && fine;
    } else {
      out.value(member.value);
    }
  }
  if (!done) {
    out.key(left.front());
    fine = write_with(out, {}, left.subspan(1), replacement) && fine;
  }
  out.end_object();
  return fine;
}

}  // namespace

Result<std::string> with_value_at(const std::string& object, std::string_view pointer, std::string_view value) {
  const auto document = json::read(object, json::Limits{});
  if (!document || !document->root().is(json::Kind::object)) {
    return fail(Errc::policy_invalid, "is no JSON object", "--arguments");
  }
  std::vector<std::string> tokens;
  for (const std::string_view token : text::split(pointer, '/')) {
    std::optional<std::string> one = decoded(token);
    if (!one) {
      return fail(Errc::policy_invalid, "a tilde is written ~0 in a JSON pointer", "--argument");
    }
    tokens.push_back(std::move(*one));
  }
  if (pointer.empty() || !tokens.front().empty()) {
    return fail(Errc::policy_invalid, "a JSON pointer begins with a slash, as in /path", "--argument");
  }
  json::Writer out;
  if (!write_with(out, document->root(), Tokens(tokens).subspan(1), value)) {
    return fail(Errc::policy_invalid, "leads through something that is no object and no array with that position",
                "--argument");
  }
  return out.take();
}

}  // namespace cordon::app
