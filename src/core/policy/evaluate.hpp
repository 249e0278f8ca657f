// SPDX-License-Identifier: Apache-2.0
#pragma once
// Judging one call: the pin first, then rules, then effects. No rule lifts a refusal of the pin (that part is in gate).

#include <cstdint>
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

// What the policy says of prompts, and of one resource: its rules first, then `templates` for a URI that only a
// reviewed template names, else `default`. The pin judges before these.
Verdict evaluate_prompt(const Policy& policy);
enum class ResourceOrigin : std::uint8_t { listed, by_template };
Verdict evaluate_resource(const Policy& policy, std::string_view uri, ResourceOrigin origin);

// True when a URI cannot be judged by its text: it has a `.` or `..` segment, a backslash or
// a control character, also percent-encoded (once or twice).
bool is_ambiguous_uri(std::string_view uri);

// Is `uri` data by `catalog.dynamic`? Never when it is ambiguous.
bool is_dynamic(const Catalog& catalog, std::string_view uri);

// Glob match of the whole name: * any run, ? one character (code point). Linear in practice, no backtracking blow-up.
bool glob_match(std::string_view glob, std::string_view name);

}  // namespace cordon::policy
