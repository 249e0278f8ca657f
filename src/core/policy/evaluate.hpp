// SPDX-License-Identifier: Apache-2.0
#pragma once
// Judging one call: the pin first, then rules, then effects. No rule lifts a refusal of the pin (that part is in gate).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/policy.hpp"

namespace cordon::policy {

struct Verdict {
  Action action = Action::block;
  std::string because = {};  // for audit and explain: "rule 2 (policy.yaml:40:7)" or "effect write: confirm"
  Position position = {};
};

// Whatever the arguments are: the first rule whose globs match `tool` and that has an action and no `when`, else the
// action for `effect`. judge_call.hpp judges a call.
Verdict evaluate(const Tools& tools, std::string_view tool, Effect effect);
// What can be said of a tool whose calls may have any of `possible` (at least one): hide only if no call of it could
// pass, so that it need not be listed.
Verdict listing_verdict(const Tools& tools, std::string_view tool, const std::vector<Effect>& possible);
Verdict effect_verdict(const Tools& tools, Effect effect);
// Of several classes the strictest.
Verdict effects_verdict(const Tools& tools, const std::vector<Effect>& effects);
bool names_tool(const Rule& rule, std::string_view tool);
// "rule 2 (policy.yaml:40:7)"; `rule` from 0.
std::string rule_place(const Tools& tools, std::size_t rule);
// "policy.yaml:40:7", or "default" for what the file does not say.
std::string place_in(const Tools& tools, Position position);

// What the policy says of prompts, of templates, and of one resource: its rules first, then `templates` for a URI that
// only a reviewed template names, else `default`. The pin judges before these.
Verdict evaluate_prompt(const Policy& policy);
Verdict evaluate_templates(const Policy& policy);
enum class ResourceOrigin : std::uint8_t { listed, by_template };
Verdict evaluate_resource(const Policy& policy, std::string_view uri, ResourceOrigin origin);

// True when a URI cannot be judged by its text: it has a `.` or `..` segment, a backslash or
// a control character, also percent-encoded (once or twice).
bool is_ambiguous_uri(std::string_view uri);

// Is `uri` data by `catalog.dynamic`? Never when it is ambiguous.
bool is_dynamic(const Catalog& catalog, std::string_view uri);

inline bool has_limit(const Rule& rule) {
  return rule.calls_per_minute || rule.calls_in_flight || rule.answer_timeout_seconds;
}

// Glob match of the whole name: * any run, ? one character (code point). Linear in practice, no backtracking blow-up.
bool glob_match(std::string_view glob, std::string_view name);

}  // namespace cordon::policy
