// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cues: what in new text a reviewer should see first. They raise a severity and never decide. One table (cues.cpp);
// docs/formats/diff.md lists it.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/catalog/change.hpp"
#include "core/json/value.hpp"

namespace cordon::catalog {

enum class CueKind : std::uint8_t {
  concealment,        // the user is not to be told
  override_order,     // the model is to drop what it was told
  hidden_characters,  // invisible, bidirectional, tag
  control_characters,
  terminal_escape,
  secret_place,  // a file in which secrets lie
  foreign_tool,  // a tool or server that is not this one
  mixed_script,  // letters of several scripts in one word, or of another script than the text
  confusable,    // letters that only look like ASCII
  order,         // the model must do something
  secret_name,   // a secret by its name
  url,
  host,
  path,
  other_tool,  // another tool of this server
  long_text,
};

struct CueFacts {
  CueKind kind = CueKind::order;
  std::string_view name = {};
  Severity least = Severity::medium;
  std::string_view phrase = {};  // for a person: "keeps something from the user"
};
// Worst first.
std::span<const CueFacts> cue_table();
std::string_view cue_phrase(std::string_view name);

// What a text may name.
struct CueNames {
  std::set<std::string, std::less<>> tools = {};  // of both catalogs
  std::string own = {};                           // the tool that the text is of
};

// Everything found, with how often.
using Findings = std::map<std::pair<CueKind, std::string>, std::size_t>;
void find_cues(std::string_view text, const CueNames& names, Findings& findings);
// In every string and every member name at or below `value`.
void find_cues(const json::Value& value, const CueNames& names, Findings& findings);

inline constexpr std::size_t kMaxCuesOfKind = 3;
// What `after` has more often than `before`; worst first, at most kMaxCuesOfKind of each kind.
std::vector<Cue> new_cues(const Findings& before, const Findings& after);

// The part about single characters and scripts (cue_characters.cpp).
void find_characters(std::string_view text, Findings& findings);
// Lower case, white space as one space, invisible characters left out: what phrases are looked for in.
std::string folded_for_cues(std::string_view text);

inline constexpr std::size_t kMaxExcerptBytes = 80;
void add_finding(Findings& findings, CueKind kind, std::string_view excerpt);

}  // namespace cordon::catalog
