// SPDX-License-Identifier: Apache-2.0
#pragma once
// The effect class that is proposed for a tool, with reasons (docs/effects.md). A proposal: a reviewer's word wins, and
// the gate takes a proposed `read` for `unknown`. A tool that can write and is proposed as `read` is the costly error,
// so `read` needs a reason and every doubt is against it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.hpp"

namespace cordon::catalog {

// An effect that hangs on an argument.
struct ConditionalEffect {
  std::string argument = {};              // JSON pointer into the arguments
  std::optional<std::string> value = {};  // nothing: whenever it is given (a flag: whenever it is true)
  std::string_view effect = "unknown";
  std::string reason = {};
};

struct EffectProposal {
  std::string_view effect = "unknown";  // the worst of all that it can do; an effect class by name
  std::vector<ConditionalEffect> when = {};
  std::vector<std::string> reasons = {};  // for a person; words of the server stand in quotes, not escaped
  bool router = false;                    // hides other tools
};

// `definition`: a tool as the server lists it. Nothing of it needs to be valid.
EffectProposal propose_effect(const json::Value& definition);
EffectProposal propose_effect(std::string_view definition);

// What a word of a name or text says; nothing when it says nothing. Knows plain, third-person and -ing forms.
std::optional<std::string_view> effect_of_word(std::string_view lower_case_word);
// Words of a name in lower case: at `_`, `-`, `.`, `/`, blanks and capitals.
std::vector<std::string> words_of_name(std::string_view name);

}  // namespace cordon::catalog
