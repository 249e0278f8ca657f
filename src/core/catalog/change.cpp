// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/change.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace cordon::catalog {

namespace {

using enum Severity;

// In the order of the enumeration. Accepting more, or telling a model more, weighs more than accepting less.
constexpr std::array kTable = {
    WhatFacts{What::member_changed, "member_changed", medium, "member changed"},
    WhatFacts{What::item_added, "item_added", medium, "added"},
    WhatFacts{What::item_removed, "item_removed", low, "removed"},
    WhatFacts{What::name_changed, "name_changed", medium, "name changed"},
    WhatFacts{What::description_changed, "description_changed", medium, "description changed"},
    WhatFacts{What::title_changed, "title_changed", low, "title changed"},
    WhatFacts{What::parameter_added, "parameter_added", medium, "optional parameter added"},
    WhatFacts{What::required_parameter_added, "required_parameter_added", medium, "required parameter added"},
    WhatFacts{What::parameter_removed, "parameter_removed", low, "parameter removed"},
    WhatFacts{What::parameter_became_required, "parameter_became_required", medium, "parameter became required"},
    WhatFacts{What::parameter_became_optional, "parameter_became_optional", low, "parameter became optional"},
    WhatFacts{What::parameter_text_changed, "parameter_text_changed", medium, "text of the schema changed"},
    WhatFacts{What::type_widened, "type_widened", medium, "type widened"},
    WhatFacts{What::type_narrowed, "type_narrowed", low, "type narrowed"},
    WhatFacts{What::type_changed, "type_changed", medium, "type changed"},
    WhatFacts{What::constraint_loosened, "constraint_loosened", medium, "constraint loosened"},
    WhatFacts{What::constraint_tightened, "constraint_tightened", low, "constraint tightened"},
    WhatFacts{What::constraint_changed, "constraint_changed", medium, "constraint changed"},
    WhatFacts{What::enum_extended, "enum_extended", medium, "value accepted that was not"},
    WhatFacts{What::enum_reduced, "enum_reduced", low, "value no longer accepted"},
    WhatFacts{What::default_changed, "default_changed", medium, "default changed"},
    WhatFacts{What::reference_changed, "reference_changed", low, "reference changed"},
    WhatFacts{What::definition_added, "definition_added", low, "definition for references added"},
    WhatFacts{What::definition_removed, "definition_removed", low, "definition for references removed"},
    WhatFacts{What::order_changed, "order_changed", low, "order of alternatives changed"},
    WhatFacts{What::dialect_changed, "dialect_changed", medium, "schema dialect changed"},
    WhatFacts{What::schema_changed, "schema_changed", medium, "schema changed"},
    WhatFacts{What::output_schema_added, "output_schema_added", low, "output schema added"},
    WhatFacts{What::output_schema_removed, "output_schema_removed", low, "output schema removed"},
    WhatFacts{What::read_only_hint_gained, "read_only_hint_gained", high, "says that it is read-only now"},
    WhatFacts{What::read_only_hint_lost, "read_only_hint_lost", medium, "no longer says that it is read-only"},
    WhatFacts{What::destructive_hint_gained, "destructive_hint_gained", medium, "says that it may destroy now"},
    WhatFacts{What::destructive_hint_lost, "destructive_hint_lost", medium, "no longer says that it may destroy"},
    WhatFacts{What::hint_changed, "hint_changed", medium, "hint changed"},
    WhatFacts{What::client_behaviour_changed, "client_behaviour_changed", medium, "what clients do with it changed"},
    WhatFacts{What::meta_changed, "meta_changed", medium, "_meta changed"},
    WhatFacts{What::execution_changed, "execution_changed", low, "execution changed"},
    WhatFacts{What::icons_changed, "icons_changed", low, "icons changed"},
    WhatFacts{What::form_changed, "form_changed", info, "form only"},
    WhatFacts{What::effect_lowered, "effect_lowered", critical, "effect class lowered"},
    WhatFacts{What::effect_raised, "effect_raised", medium, "effect class raised"},
    WhatFacts{What::instructions_added, "instructions_added", high, "instructions added"},
    WhatFacts{What::instructions_removed, "instructions_removed", medium, "instructions removed"},
    WhatFacts{What::instructions_changed, "instructions_changed", high, "instructions changed"},
    WhatFacts{What::identity_changed, "identity_changed", medium, "identity changed"},
    WhatFacts{What::server_version_changed, "server_version_changed", low, "version or its like changed"},
    WhatFacts{What::capability_changed, "capability_changed", medium, "capability changed"},
    WhatFacts{What::protocol_versions_changed, "protocol_versions_changed", low, "protocol versions changed"},
    WhatFacts{What::launch_changed, "launch_changed", medium, "launch changed"},
    WhatFacts{What::prompt_arguments_changed, "prompt_arguments_changed", medium, "arguments of the prompt changed"},
    WhatFacts{What::resource_facts_changed, "resource_facts_changed", low, "size or type of the resource changed"},
    WhatFacts{What::interface_added, "interface_added", medium, "clients show and run something for it"},
    WhatFacts{What::interface_changed, "interface_changed", high, "what clients show and run for it changed"},
    WhatFacts{What::interface_removed, "interface_removed", low, "nothing is shown for it any more"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].what) != i) {
      return false;
    }
  }
  return kTable.size() == static_cast<std::size_t>(What::interface_removed) + 1;
}
static_assert(in_order());

}  // namespace

std::span<const WhatFacts> what_table() { return kTable; }

const WhatFacts& facts(What what) { return kTable[static_cast<std::size_t>(what)]; }

std::string_view name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added:
      return "added";
    case ChangeKind::removed:
      return "removed";
    case ChangeKind::renamed:
      return "renamed";
    case ChangeKind::changed:
      return "changed";
    case ChangeKind::cosmetic:
      return "cosmetic";
  }
  return "";
}

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::low:
      return "low";
    case Severity::medium:
      return "medium";
    case Severity::high:
      return "high";
    case Severity::critical:
      return "critical";
  }
  return "";
}

}  // namespace cordon::catalog
