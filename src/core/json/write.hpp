// SPDX-License-Identifier: Apache-2.0
#pragma once
// Building JSON text, and the canonical form that digests are taken of.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace cordon::json {

enum class Escaping : std::uint8_t {
  minimal,     // only what JSON demands
  reviewable,  // everything but printable ASCII and visible letters as \uXXXX: hostile text cannot hide in a file
};

// `decoded` with its quotes. Three-byte forms of surrogates (as Value::string gives them) are written as \uXXXX.
std::string quoted(std::string_view decoded, Escaping escaping = Escaping::minimal);

// Appends JSON text; commas and colons come by themselves. Misuse (a value without a key inside an object) asserts.
class Writer {
 public:
  Writer() { out_.reserve(kUsual); }
  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view decoded);
  Writer& string(std::string_view decoded);
  Writer& integer(std::int64_t number);
  Writer& boolean(bool value);
  Writer& null();
  Writer& raw(std::string_view json);  // one whole value, taken as it is
  Writer& value(const Value& value) { return raw(value.raw()); }

  // key and value in one.
  Writer& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  Writer& member(std::string_view name, const char* text) { return key(name).string(text); }
  Writer& member_int(std::string_view name, std::int64_t number) { return key(name).integer(number); }
  Writer& member_bool(std::string_view name, bool flag) { return key(name).boolean(flag); }
  Writer& member_raw(std::string_view name, std::string_view json) { return key(name).raw(json); }

  // The finished text; all objects and arrays must be closed.
  std::string take();

 private:
  static constexpr std::size_t kUsual =
      480;  // an audit record fits, so that building one does not grow it step by step
  void before_value();
  std::string out_;
  std::vector<char> open_;  // '{' or '['
  bool first_ = true;
  bool have_key_ = false;
};

// Canonical form (docs/formats/snapshot.md): members sorted by code point of the decoded key, no white space, number
// spelling kept, strings decoded and written with minimal escapes.
std::string canonical(const Value& value);

// Indented by two spaces, members in the given order, for files that people diff.
std::string pretty(const Value& value, Escaping escaping);

}  // namespace cordon::json
