// SPDX-License-Identifier: Apache-2.0
#pragma once
// tests/fakes: a server and a client of our own that share no code with the program, so that they are an independent
// reading of the protocol. This is their JSON: lenient, small, and not for anything else.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fake {

// One parsed value. `raw` is the text it was read from; a string's `text` is unescaped.
struct Json {
  enum class Kind { absent, null, boolean, number, string, array, object };
  Kind kind = Kind::absent;
  std::string raw = {};
  std::string text = {};
  std::vector<Json> items = {};
  std::vector<std::pair<std::string, Json>> members = {};

  bool is(Kind wanted) const { return kind == wanted; }
  explicit operator bool() const { return kind != Kind::absent; }

  // The member of that name, or an absent value.
  const Json& operator[](std::string_view name) const {
    static const Json absent;
    for (const auto& [key, value] : members) {
      if (key == name) return value;
    }
    return absent;
  }
};

// Absent when the text is not one JSON value.
Json parse(std::string_view text);

// Quoted and escaped.
std::string quoted(std::string_view text);

}  // namespace fake
