// SPDX-License-Identifier: Apache-2.0
#include "core/policy/evaluate.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/text.hpp"

namespace cordon::policy {
namespace {

std::string place(const Tools& tools, Position position) {
  if (position.line == 0) {
    return "default";
  }
  const std::string file = tools.file.empty() ? std::string("line ") : text::printable(tools.file) + ":";
  return text::cat(file, position.line, ":", position.column);
}

}  // namespace

Verdict evaluate(const Tools& tools, std::string_view tool, Effect effect) {
  for (std::size_t i = 0; i < tools.rules.size(); ++i) {
    const Rule& rule = tools.rules[i];
    const auto matches = [&](const std::string& glob) { return glob_match(glob, tool); };
    if (rule.action.has_value() && std::ranges::any_of(rule.tools, matches)) {
      return {*rule.action, text::cat("rule ", i + 1, " (", place(tools, rule.position), ")"), rule.position};
    }
  }
  // An effect without an action can only come from a policy that no reader of ours made: the closed answer.
  const auto action = tools.effects.find(effect);
  const Action decided = action == tools.effects.end() ? Action::block : action->second;
  const auto written = tools.effect_positions.find(effect);
  const Position position = written == tools.effect_positions.end() ? Position{} : written->second;
  return {decided, text::cat("effect ", name(effect), ": ", name(decided), " (", place(tools, position), ")"),
          position};
}

}  // namespace cordon::policy
