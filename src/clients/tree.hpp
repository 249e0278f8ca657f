// SPDX-License-Identifier: Apache-2.0
#pragma once
// A config as a tree that knows where each value stands, so that a few values can be changed and every other byte kept.
// Filled by jsonc.hpp and toml.hpp. Lenient where clients are, unlike core/json, and never used for messages.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::clients {

enum class Syntax : std::uint8_t { json, toml };  // json: with comments and trailing commas

// Bytes [begin, end) of the text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Span&) const = default;
};

enum class NodeKind : std::uint8_t { scalar, string, array, object };

struct Member;

struct Node {
  // Out of line, because Member is not known yet.
  Node();
  Node(const Node& other);
  Node(Node&& other) noexcept;
  Node& operator=(const Node& other);
  Node& operator=(Node&& other) noexcept;
  ~Node();

  NodeKind kind = NodeKind::scalar;
  Span span = {};          // of the value as written; empty for a table of TOML that no single place holds
  std::string value = {};  // string: decoded; scalar: as written
  std::vector<Node> elements = {};
  std::vector<Member> members;  // in the order of the text, duplicates included
  // TOML: how a table or array came to be, which decides whether it may be continued.
  enum class Made : std::uint8_t { value, implied, dotted, header, list };
  Made made = Made::value;
};

struct Member {
  std::string key = {};
  Span key_span = {};     // as written, with quotes; of a dotted key of TOML the last part
  Span statement = {};    // from the first byte of the (dotted) key to the end of the value
  bool own_line = false;  // TOML: KEY = VALUE outside of an inline table
  Node node = {};
};

struct Tree {
  Syntax syntax = Syntax::json;
  Node root = {};  // an object; empty for a text without any value
};

// The only member of that key; nullptr when there is none or several.
const Member* find(const Node& object, std::string_view key);
std::size_t count(const Node& object, std::string_view key);

// "12:5" of a byte offset: line and column in characters, both from 1.
std::string place(std::string_view text, std::size_t offset);

// The same values in the same order, wherever they stand.
bool same_values(const Node& left, const Node& right);

// `file` is for messages. catalog_invalid, with "FILE:LINE:COLUMN", for what is not understood with certainty.
Result<Tree> read_tree(Syntax syntax, std::string_view text, std::string_view file);
Result<Tree> read_jsonc(std::string_view text, std::string_view file);
Result<Tree> read_toml(std::string_view text, std::string_view file);

inline constexpr std::size_t kMaxConfigBytes = 64'000'000;
inline constexpr int kMaxConfigDepth = 200;

}  // namespace cordon::clients
