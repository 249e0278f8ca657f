// SPDX-License-Identifier: Apache-2.0
#include "core/policy/evaluate.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/text.hpp"

namespace cordon::policy {

std::string place_in(const Tools& tools, Position position) {
  if (position.line == 0) {
    return "default";
  }
  const std::string file = tools.file.empty() ? std::string("line ") : text::printable(tools.file) + ":";
  return text::cat(file, position.line, ":", position.column);
}

bool names_tool(const Rule& rule, std::string_view tool) {
  return std::ranges::any_of(rule.tools, [&](const std::string& glob) { return glob_match(glob, tool); });
}

std::string rule_place(const Tools& tools, std::size_t rule) {
  return text::cat("rule ", rule + 1, " (", place_in(tools, tools.rules[rule].position), ")");
}

Verdict evaluate(const Tools& tools, std::string_view tool, Effect effect) {
  for (std::size_t i = 0; i < tools.rules.size(); ++i) {
    const Rule& rule = tools.rules[i];
    if (rule.action.has_value() && rule.when.empty() && names_tool(rule, tool)) {
      return {*rule.action, rule_place(tools, i), rule.position};
    }
  }
  return effect_verdict(tools, effect);
}

Verdict effect_verdict(const Tools& tools, Effect effect) {
  // An effect without an action can only come from a policy that no reader of ours made: the closed answer.
  const auto action = tools.effects.find(effect);
  const Action decided = action == tools.effects.end() ? Action::block : action->second;
  const auto written = tools.effect_positions.find(effect);
  const Position position = written == tools.effect_positions.end() ? Position{} : written->second;
  return {decided, text::cat("effect ", name(effect), ": ", name(decided), " (", place_in(tools, position), ")"),
          position};
}

Verdict effects_verdict(const Tools& tools, const std::vector<Effect>& effects) {
  std::optional<Verdict> strictest;
  for (const Effect effect : effects) {
    Verdict verdict = effect_verdict(tools, effect);
    // In the order of strictness.
    if (!strictest || verdict.action > strictest->action) {
      strictest = std::move(verdict);
    }
  }
  return strictest ? *strictest : effect_verdict(tools, Effect::unknown);
}

Verdict listing_verdict(const Tools& tools, std::string_view tool, const std::vector<Effect>& possible) {
  std::optional<Verdict> milder;
  for (std::size_t i = 0; i < tools.rules.size(); ++i) {
    const Rule& rule = tools.rules[i];
    if (!rule.action || !names_tool(rule, tool)) {
      continue;
    }
    Verdict verdict = {*rule.action, rule_place(tools, i), rule.position};
    if (rule.when.empty()) {
      return verdict.action == Action::hide && milder ? *milder : verdict;
    }
    if (verdict.action != Action::hide && !milder) {
      milder = std::move(verdict);
    }
  }
  for (const Effect effect : possible) {
    Verdict verdict = effect_verdict(tools, effect);
    if (verdict.action != Action::hide) {
      return verdict;
    }
  }
  return milder ? *milder : effects_verdict(tools, possible);
}

}  // namespace cordon::policy
