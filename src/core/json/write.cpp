// SPDX-License-Identifier: Apache-2.0
#include "core/json/write.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/plain.hpp"
#include "base/text.hpp"

namespace cordon::json {
namespace {

void append_u(std::string& out, char32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += kDigits[(unit >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

void append_escaped_point(std::string& out, char32_t point) {
  if (point >= 0x10000) {
    append_u(out, 0xD800 + ((point - 0x10000) >> 10U));
    append_u(out, 0xDC00 + ((point - 0x10000) & 0x3FFU));
  } else {
    append_u(out, point);
  }
}

// The escapes that JSON demands; false when `c` needs none.
bool append_mandatory(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\b':
      out += "\\b";
      return true;
    case '\f':
      out += "\\f";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        append_u(out, static_cast<unsigned char>(c));
        return true;
      }
      return false;
  }
}

// The three bytes that Value::string() gives a lone surrogate, else 0.
char32_t surrogate_at(std::string_view text, std::size_t offset) {
  if (text.size() - offset < 3 || static_cast<unsigned char>(text[offset]) != 0xED ||
      static_cast<unsigned char>(text[offset + 1]) < 0xA0) {
    return 0;
  }
  return 0xD000U | ((static_cast<unsigned char>(text[offset + 1]) & 0x3FU) << 6U) |
         (static_cast<unsigned char>(text[offset + 2]) & 0x3FU);
}

// Appends what stands at `offset` (not ASCII) and returns its length in bytes.
std::size_t append_wide(std::string& out, std::string_view decoded, std::size_t offset, Escaping escaping) {
  const text::CodePoint point = text::decode_utf8(decoded, offset);
  if (point.length == 0) {
    const char32_t surrogate = surrogate_at(decoded, offset);
    if (surrogate != 0) {
      append_u(out, surrogate);
      return 3;
    }
    append_u(out, 0xFFFD);  // a byte that is no text: only our own callers can bring one
    return 1;
  }
  if (escaping == Escaping::reviewable && !text::is_visible_letter(point.value)) {
    append_escaped_point(out, point.value);
  } else {
    out += decoded.substr(offset, point.length);
  }
  return point.length;
}

void append_quoted(std::string& out, std::string_view decoded, Escaping escaping) {
  out += '"';
  for (std::size_t i = 0; i < decoded.size();) {
    // Most text is a run of plain ASCII: copied at once.
    const std::size_t run = text::plain_run(decoded.substr(i));
    out += decoded.substr(i, run);
    i += run;
    if (i == decoded.size()) {
      break;
    }
    const auto byte = static_cast<unsigned char>(decoded[i]);
    if (byte >= 0x80) {
      i += append_wide(out, decoded, i, escaping);
      continue;
    }
    if (byte == 0x7F && escaping == Escaping::reviewable) {
      append_u(out, byte);
    } else if (!append_mandatory(out, decoded[i])) {
      out += decoded[i];
    }
    ++i;
  }
  out += '"';
}

bool is_escaped(const Value& string) { return (string.tape()->nodes[string.index()].flags & detail::kEscaped) != 0; }

// A string without a backslash has nothing that would need one, so it stands as it is.
void append_canonical_string(std::string& out, const Value& value) {
  if (!is_escaped(value)) {
    out += '"';
    out += value.string_raw();
    out += '"';
  } else {
    append_quoted(out, value.string(), Escaping::minimal);
  }
}

void append_canonical(std::string& out, const Value& value);

void append_member(std::string& out, const Member& member) {
  if (out.back() != '{') {
    out += ',';
  }
  append_canonical_string(out, member.key);
  out += ':';
  append_canonical(out, member.value);
}

// Keys without escapes that stand in order already: most objects.
bool members_in_order(const Value& value) {
  std::string_view before;
  for (const Member member : value.members()) {
    const std::string_view key = member.key.string_raw();
    if (key < before || is_escaped(member.key)) {
      return false;
    }
    before = key;
  }
  return true;
}

void append_canonical_object(std::string& out, const Value& value) {
  out += '{';
  if (members_in_order(value)) {
    for (const Member member : value.members()) {
      append_member(out, member);
    }
    out += '}';
    return;
  }
  std::vector<std::pair<std::string, Member>> members;
  for (const Member member : value.members()) {
    members.emplace_back(member.key.string(), member);
  }
  // Byte order of UTF-8 is the order of code points.
  const auto key = [](const std::pair<std::string, Member>& entry) -> const std::string& { return entry.first; };
  std::ranges::sort(members, {}, key);
  for (const auto& [name, member] : members) {
    append_member(out, member);
  }
  out += '}';
}

void append_canonical(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::object:
      append_canonical_object(out, value);
      return;
    case Kind::array: {
      out += '[';
      bool first = true;
      for (const Value element : value.elements()) {
        out += std::exchange(first, false) ? "" : ",";
        append_canonical(out, element);
      }
      out += ']';
      return;
    }
    case Kind::string:
      append_canonical_string(out, value);
      return;
    case Kind::null:
    case Kind::boolean:
    case Kind::number:
      out += value.raw();
      return;
  }
}

void append_pretty(std::string& out, const Value& value, Escaping escaping, std::size_t indent) {
  const auto new_line = [&](std::size_t depth) {
    out += '\n';
    out.append(depth * 2, ' ');
  };
  bool first = true;
  if (value.is(Kind::object) && value.members().begin() != value.members().end()) {
    out += '{';
    for (const Member member : value.members()) {
      out += std::exchange(first, false) ? "" : ",";
      new_line(indent + 1);
      append_quoted(out, member.key.string(), escaping);
      out += ": ";
      append_pretty(out, member.value, escaping, indent + 1);
    }
    new_line(indent);
    out += '}';
  } else if (value.is(Kind::array) && value.elements().begin() != value.elements().end()) {
    out += '[';
    for (const Value element : value.elements()) {
      out += std::exchange(first, false) ? "" : ",";
      new_line(indent + 1);
      append_pretty(out, element, escaping, indent + 1);
    }
    new_line(indent);
    out += ']';
  } else if (value.is(Kind::string)) {
    append_quoted(out, value.string(), escaping);
  } else if (value.is(Kind::object)) {
    out += "{}";
  } else if (value.is(Kind::array)) {
    out += "[]";
  } else {
    out += value.raw();
  }
}

}  // namespace

std::string quoted(std::string_view decoded, Escaping escaping) {
  std::string out;
  out.reserve(decoded.size() + 2);
  append_quoted(out, decoded, escaping);
  return out;
}

void Writer::before_value() {
  if (have_key_) {
    have_key_ = false;
    return;
  }
  CORDON_ASSERT(open_.empty() || open_.back() == '[');
  CORDON_ASSERT(!open_.empty() || out_.empty());
  if (!first_) {
    out_ += ',';
  }
  first_ = false;
}

Writer& Writer::begin_object() {
  before_value();
  out_ += '{';
  open_.push_back('{');
  first_ = true;
  return *this;
}

Writer& Writer::end_object() {
  CORDON_ASSERT(!open_.empty() && open_.back() == '{' && !have_key_);
  open_.pop_back();
  out_ += '}';
  first_ = false;
  return *this;
}

Writer& Writer::begin_array() {
  before_value();
  out_ += '[';
  open_.push_back('[');
  first_ = true;
  return *this;
}

Writer& Writer::end_array() {
  CORDON_ASSERT(!open_.empty() && open_.back() == '[');
  open_.pop_back();
  out_ += ']';
  first_ = false;
  return *this;
}

Writer& Writer::key(std::string_view decoded) {
  CORDON_ASSERT(!open_.empty() && open_.back() == '{' && !have_key_);
  if (!first_) {
    out_ += ',';
  }
  first_ = false;
  append_quoted(out_, decoded, Escaping::minimal);
  out_ += ':';
  have_key_ = true;
  return *this;
}

Writer& Writer::string(std::string_view decoded) {
  before_value();
  append_quoted(out_, decoded, Escaping::minimal);
  return *this;
}

Writer& Writer::integer(std::int64_t number) {
  before_value();
  out_ += std::to_string(number);
  return *this;
}

Writer& Writer::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
  return *this;
}

Writer& Writer::null() {
  before_value();
  out_ += "null";
  return *this;
}

Writer& Writer::raw(std::string_view json) {
  before_value();
  out_ += json;
  return *this;
}

std::string Writer::take() {
  CORDON_ASSERT(open_.empty() && !have_key_);
  return std::exchange(out_, {});
}

std::string canonical(const Value& value) {
  std::string out;
  out.reserve(value.raw().size());
  append_canonical(out, value);
  return out;
}

std::string pretty(const Value& value, Escaping escaping) {
  std::string out;
  append_pretty(out, value, escaping, 0);
  return out;
}

}  // namespace cordon::json
