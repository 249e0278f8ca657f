// SPDX-License-Identifier: Apache-2.0
#pragma once
// The vocabulary of differences: what can change in a catalog, how much each weighs, and how it is called. One table
// (change.cpp), which the reports and docs/formats/diff.md share.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::catalog {

// Of a whole item (a tool, the instructions, …).
enum class ChangeKind : std::uint8_t { added, removed, renamed, changed, cosmetic };
enum class Severity : std::uint8_t { info, low, medium, high, critical };
std::string_view name(ChangeKind kind);
std::string_view name(Severity severity);

// Of one place in an item.
enum class What : std::uint8_t {
  // what no other word fits: nothing that changed goes unreported
  member_changed,
  // whole items
  item_added,
  item_removed,
  name_changed,
  // texts
  description_changed,
  title_changed,
  // schemas
  parameter_added,
  required_parameter_added,
  parameter_removed,
  parameter_became_required,
  parameter_became_optional,
  parameter_text_changed,
  type_widened,
  type_narrowed,
  type_changed,
  constraint_loosened,
  constraint_tightened,
  constraint_changed,
  enum_extended,
  enum_reduced,
  default_changed,
  reference_changed,
  definition_added,
  definition_removed,
  order_changed,
  dialect_changed,
  schema_changed,
  output_schema_added,
  output_schema_removed,
  // hints
  read_only_hint_gained,
  read_only_hint_lost,
  destructive_hint_gained,
  destructive_hint_lost,
  hint_changed,
  // other members of a tool
  client_behaviour_changed,
  meta_changed,
  execution_changed,
  icons_changed,
  form_changed,
  // effect classes
  effect_lowered,
  effect_raised,
  // all that is no tool
  instructions_added,
  instructions_removed,
  instructions_changed,
  identity_changed,
  server_version_changed,
  capability_changed,
  protocol_versions_changed,
  launch_changed,
  prompt_arguments_changed,
  resource_facts_changed,
  interface_added,
  interface_changed,
  interface_removed,
};

struct WhatFacts {
  What what = What::member_changed;
  std::string_view name = {};  // as the reports write it; never renamed
  Severity severity = Severity::medium;
  std::string_view phrase = {};  // for a person, lower case: "parameter added"
};
std::span<const WhatFacts> what_table();
const WhatFacts& facts(What what);
inline std::string_view name(What what) { return facts(what).name; }

// Something in new text that a reviewer should see first (cues.hpp has the table).
struct Cue {
  std::string_view name = {};
  Severity least = Severity::medium;  // the place weighs at least this much
  std::string excerpt = {};           // of the server's text: untrusted; or "U+200B"
  std::size_t count = 1;
};

// One place that differs. `pointer` is a JSON pointer; a value is compact JSON, empty when absent.
struct Place {
  std::string pointer = {};
  std::string before = {};
  std::string after = {};
  Severity severity = Severity::medium;
  // True: `pointer` names an array in which order has no meaning, and `before` or `after` is one element of it.
  bool element = false;
  What what = What::member_changed;
  std::vector<Cue> cues = {};  // worst first
};

}  // namespace cordon::catalog
