// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words that all reports for people share. Ours only; names and values of strangers are added by each report in its
// own escaping.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/catalog/groups.hpp"

namespace cordon::formats {

// "CRITICAL", "HIGH", …
std::string_view label(catalog::Severity severity);
// "tool", "effect class", "server identity", …; `count` chooses the plural.
std::string noun(std::string_view item, std::size_t count);
// What happened to the items of a group, without their names: "tool added", "3 tools changed in the same way".
std::string headline(const catalog::Group& group);
// "Drift: 1 tool added, 2 tools changed." or "No difference."
std::string summary(const catalog::Diff& diff);
// What to say about a place: its phrase, but for whole items, whose headline says it.
std::string_view phrase(const catalog::Place& place);
// The decoded string, when `json` is one.
std::optional<std::string> string_in(const std::string& json);
// Worth a comparison word by word; a single word or address is better read whole.
bool is_prose(std::string_view text);
// Both sides of a place are texts, and at least one is prose.
struct Texts {
  std::string before = {};
  std::string after = {};
};
std::optional<Texts> prose_of(const catalog::Place& place);

// A JSON pointer for a person: its steps decoded, with quotation marks around those that could be taken for several or
// for something else. Not yet printable.
std::string readable_pointer(std::string_view pointer);
std::string readable_token(std::string_view decoded);

// Text of strangers as lines of one: printable, nothing cut.
std::string printable_whole(std::string_view untrusted);
// JSON text likewise; its own backslash escapes stay as they are.
std::string printable_json(std::string_view json);

// JSON that a Writer made, indented and escaped like files that people review, with a line end.
std::string reviewable_json(std::string text);
// For XML and HTML, in text and in quoted attributes.
std::string escaped_markup(std::string_view text);

}  // namespace cordon::formats
