// SPDX-License-Identifier: Apache-2.0
#include "formats/member_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/json/write.hpp"
#include "formats/json_place.hpp"

namespace cordon::formats {

using json::Kind;
using json::Value;
using std::string_view;

namespace {

bool is_digest(string_view text) {
  constexpr string_view kPrefix = "sha256:";
  return text.size() == kPrefix.size() + 64 && text.starts_with(kPrefix) &&
         std::ranges::all_of(text.substr(kPrefix.size()),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

void MemberReader::fault(const Value& at, std::string detail, string_view remedy) {
  if (!error_) {
    error_ = Error{code_, std::move(detail), place_of_value(file_, document_, at), std::string(remedy)};
  }
}

bool MemberReader::has_exactly(const Value& object, std::span<const string_view> names, string_view what,
                               std::span<const string_view> optional) {
  if (!object.is(Kind::object)) {
    fault(object, text::cat(what, " must be an object"));
    return false;
  }
  for (const json::Member member : object.members()) {
    const std::string key = member.key.string();
    if (std::ranges::find(optional, key) == optional.end() && std::ranges::find(names, key) == names.end()) {
      const auto near = text::nearest(key, names);
      fault(member.key, text::cat("unknown member '", text::printable(key), "' in ", what,
                                  near ? text::cat(" (did you mean '", *near, "'?)") : std::string()));
      return false;
    }
  }
  for (const string_view name : names) {
    if (!object.find(name)) {
      fault(object, text::cat("member '", name, "' is missing in ", what));
    }
  }
  return !error_;
}

std::string MemberReader::text_of(const Value& value, string_view what) {
  if (!value.is(Kind::string)) {
    fault(value, text::cat(what, " must be a string"));
    return {};
  }
  if (value.has_lone_surrogate() || value.has_nul()) {
    fault(value, text::cat(what, " holds a lone surrogate or U+0000"));
  }
  return value.string();
}

std::string MemberReader::digest_of(const Value& value, string_view what) {
  std::string digest = text_of(value, what);
  if (!error_ && !is_digest(digest)) {
    fault(value, text::cat(what, " must be 'sha256:' and 64 hexadecimal digits in lower case"));
  }
  return digest;
}

bool MemberReader::flag_of(const Value& value, string_view what) {
  if (!value.is(Kind::boolean)) {
    fault(value, text::cat(what, " must be true or false"));
    return false;
  }
  return value.boolean();
}

std::vector<std::string> MemberReader::texts_of(const Value& value, string_view what) {
  std::vector<std::string> texts;
  if (!value.is(Kind::array)) {
    fault(value, text::cat(what, " must be an array of strings"));
    return texts;
  }
  for (const Value element : value.elements()) {
    texts.push_back(text_of(element, text::cat("each element of ", what)));
  }
  return texts;
}

std::string MemberReader::object_of(const Value& value, string_view what) {
  if (!value.is(Kind::object)) {
    fault(value, text::cat(what, " must be an object"));
    return "{}";
  }
  return json::canonical(value);
}

std::size_t MemberReader::count_of(const Value& value, string_view what) {
  const auto number = value.safe_integer();
  if (!number || *number < 0) {
    fault(value, text::cat(what, " must be an integer, 0 or more"));
  }
  return static_cast<std::size_t>(number.value_or(0));
}

}  // namespace cordon::formats
