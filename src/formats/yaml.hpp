// SPDX-License-Identifier: Apache-2.0
#pragma once
// formats: text in, values out, and back: policies (YAML), snapshots and reports (JSON).
// Must not: open files, print. Each third-party parser is included by one file (yaml-cpp by yaml.cpp).
// Start reading here, then policy_yaml.hpp.
//
// A strict subset of YAML as a small tree of our own. Refused: anchors, aliases, tags, merge keys, directives, a second
// document, duplicate keys, keys that are no scalars, plain values over several lines, invalid UTF-8, tabs, control and
// invisible characters, and whatever is over the limits. So the tree is never larger than its text and there is one
// way to read it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"

namespace cordon::yaml {

using policy::Position;  // column counts characters, not bytes

enum class Kind : std::uint8_t {
  null,      // nothing, ~ or null
  plain,     // a scalar without quotes: what it means is for the reader of its key to say
  quoted,    // a scalar in quotes or a block scalar: a string and nothing else
  sequence,  // items
  mapping,   // members, keys unique
};

struct Member;

struct Node {
  Kind kind = Kind::null;
  std::string text = {};  // plain and quoted
  std::vector<Node> items = {};
  std::vector<Member> members;  // mapping; no initialiser, as Member is not complete here
  Position position = {};       // of its first character; for nothing at all that of the key
};

struct Member {
  std::string key = {};
  Position position = {};  // of the key
  Node value = {};
};

struct Limits {
  std::size_t max_bytes = std::size_t{1024} * 1024;
  std::size_t max_depth = 64;
  std::size_t max_nodes = 50'000;
};

// Reads one document; an empty one is a null node at 1:1. `file` is only for Error::where, "file:line:column".
// policy_invalid for whatever is refused.
Result<Node> read(std::string_view text, std::string_view file, const Limits& limits = {});

// "file:line:column", printable.
std::string where(std::string_view file, Position position);

}  // namespace cordon::yaml
