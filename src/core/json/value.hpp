// SPDX-License-Identifier: Apache-2.0
#pragma once
// A parsed JSON text. Document owns the bytes and a flat list of nodes; Value is a cursor into it, cheap to copy, valid
// as long as the Document lives (also across moves of it). Numbers and strings keep their spelling.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/json/unescape.hpp"

namespace cordon::json {

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

// The name of a kind as JSON Schema writes it: "null", "boolean", …
std::string_view name(Kind kind);

namespace detail {

struct Node {
  std::uint32_t begin = 0;   // of the raw text; for strings without the quotes
  std::uint32_t length = 0;  // of the raw text
  std::uint32_t next = 0;    // index of the node after this value and all that is in it
  Kind kind = Kind::null;
  std::uint8_t flags = 0;
};

inline constexpr std::uint8_t kEscaped = 1;        // a string with at least one backslash
inline constexpr std::uint8_t kLoneSurrogate = 2;  // a string with an unpaired \uD800…\uDFFF
inline constexpr std::uint8_t kNul = 4;            // a string with \u0000

struct Tape {
  std::string text;
  std::vector<Node> nodes;
};

}  // namespace detail

class Members;
class Elements;

class Value {
 public:
  Value() = default;  // absent: what find() returns for a member that is not there
  Value(const detail::Tape* tape, std::uint32_t index) : tape_(tape), index_(index) {}

  explicit operator bool() const { return tape_ != nullptr; }
  Kind kind() const { return node().kind; }
  bool is(Kind kind) const { return tape_ != nullptr && node().kind == kind; }

  // Exactly as it stands in the text, strings with their quotes.
  std::string_view raw() const;

  // The kind must fit (asserted), for all below.
  bool boolean() const;
  std::string_view number_text() const;
  std::string string() const;           // decoded; lone surrogates as CESU-like three bytes, see has_lone_surrogate
  std::string_view string_raw() const;  // between the quotes, still escaped
  bool string_equals(std::string_view decoded) const;
  bool has_lone_surrogate() const;
  bool has_nul() const;

  // The number, if it is spelled as an integer (no fraction, exponent, or -0) and lies within ±(2^53 - 1).
  std::optional<std::int64_t> safe_integer() const;

  // Member by decoded key; absent Value when there is none or this is no object. Keys are unique.
  Value find(std::string_view key) const;
  Value at(std::size_t element) const;  // absent when out of range or no array; linear
  std::size_t size() const;             // members or elements; linear; 0 for scalars
  Members members() const;              // empty range when this is no object
  Elements elements() const;            // empty range when this is no array

  const detail::Tape* tape() const { return tape_; }
  std::uint32_t index() const { return index_; }

 private:
  const detail::Node& node() const { return tape_->nodes[index_]; }
  const detail::Tape* tape_ = nullptr;
  std::uint32_t index_ = 0;
};

struct Member {
  Value key;  // a string
  Value value;
};

class Members {
 public:
  class iterator {
   public:
    using value_type = Member;
    using difference_type = std::ptrdiff_t;
    iterator(const detail::Tape* tape, std::uint32_t index) : tape_(tape), index_(index) {}
    Member operator*() const { return {Value(tape_, index_), Value(tape_, index_ + 1)}; }
    iterator& operator++() {
      index_ = tape_->nodes[index_ + 1].next;
      return *this;
    }
    bool operator==(const iterator& other) const { return index_ == other.index_; }

   private:
    const detail::Tape* tape_;
    std::uint32_t index_;
  };
  Members(const detail::Tape* tape, std::uint32_t begin, std::uint32_t end) : tape_(tape), begin_(begin), end_(end) {}
  iterator begin() const { return {tape_, begin_}; }
  iterator end() const { return {tape_, end_}; }

 private:
  const detail::Tape* tape_;
  std::uint32_t begin_;
  std::uint32_t end_;
};

class Elements {
 public:
  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    iterator(const detail::Tape* tape, std::uint32_t index) : tape_(tape), index_(index) {}
    Value operator*() const { return {tape_, index_}; }
    iterator& operator++() {
      index_ = tape_->nodes[index_].next;
      return *this;
    }
    bool operator==(const iterator& other) const { return index_ == other.index_; }

   private:
    const detail::Tape* tape_;
    std::uint32_t index_;
  };
  Elements(const detail::Tape* tape, std::uint32_t begin, std::uint32_t end) : tape_(tape), begin_(begin), end_(end) {}
  iterator begin() const { return {tape_, begin_}; }
  iterator end() const { return {tape_, end_}; }

 private:
  const detail::Tape* tape_;
  std::uint32_t begin_;
  std::uint32_t end_;
};

class Document {
 public:
  Document() = default;
  explicit Document(std::unique_ptr<detail::Tape> tape) : tape_(std::move(tape)) {}
  Value root() const { return Value(tape_.get(), 0); }
  std::string_view text() const { return tape_->text; }
  // The text that was read, unchanged; the document is empty afterwards and its Values are dead.
  std::string take_text() &&;

 private:
  std::unique_ptr<detail::Tape> tape_;
};

// Inline, because every message goes through them many times.
inline std::string_view Value::raw() const {
  CORDON_ASSERT(tape_ != nullptr);
  const detail::Node& n = node();
  const std::string_view text = tape_->text;
  return n.kind == Kind::string ? text.substr(n.begin - 1, n.length + 2) : text.substr(n.begin, n.length);
}

inline std::string_view Value::string_raw() const {
  CORDON_ASSERT(is(Kind::string));
  return std::string_view(tape_->text).substr(node().begin, node().length);
}

inline bool Value::string_equals(std::string_view decoded) const {
  const std::string_view raw_text = string_raw();
  return (node().flags & detail::kEscaped) == 0 ? raw_text == decoded : unescape(raw_text) == decoded;
}

inline Members Value::members() const {
  if (!is(Kind::object)) {
    return {nullptr, 0, 0};
  }
  return {tape_, index_ + 1, node().next};
}

inline Elements Value::elements() const {
  if (!is(Kind::array)) {
    return {nullptr, 0, 0};
  }
  return {tape_, index_ + 1, node().next};
}

inline Value Value::find(std::string_view key) const {
  if (!is(Kind::object)) {
    return {};
  }
  const detail::Node* const nodes = tape_->nodes.data();
  const char* const text = tape_->text.data();
  const std::uint32_t end = nodes[index_].next;
  for (std::uint32_t i = index_ + 1; i < end; i = nodes[i + 1].next) {
    const detail::Node& name = nodes[i];
    const std::string_view raw_text(text + name.begin, name.length);
    if ((name.flags & detail::kEscaped) == 0 ? raw_text == key : unescape(raw_text) == key) {
      return {tape_, i + 1};
    }
  }
  return {};
}

}  // namespace cordon::json
