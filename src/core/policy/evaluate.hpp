// SPDX-License-Identifier: Apache-2.0
#pragma once
// Judging one call: the pin first, then rules, then effects. No rule lifts a refusal of the pin (that part is in gate).

#include <optional>
#include <string>
#include <string_view>

#include "core/policy/policy.hpp"

namespace cordon::policy {

struct Verdict {
  Action action = Action::block;
  std::string because = {};  // for audit and explain: "rule 2 (policy.yaml:40:7)" or "effect write: confirm"
  Position position = {};
};

// The first rule whose globs match `tool` and that has an action, else the action for `effect`.
Verdict evaluate(const Tools& tools, std::string_view tool, Effect effect);

// Glob match of the whole name: * any run, ? one character (code point). Linear in practice, no backtracking blow-up.
bool glob_match(std::string_view glob, std::string_view name);

}  // namespace cordon::policy
