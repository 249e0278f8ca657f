// SPDX-License-Identifier: Apache-2.0
#include "core/policy/evaluate.hpp"

#include <doctest/doctest.h>

#include <array>

using cordon::policy::Action;
using cordon::policy::Effect;
using cordon::policy::evaluate;
using cordon::policy::Position;
using cordon::policy::Tools;
using cordon::policy::Verdict;

namespace {

Tools sample() {
  Tools tools;
  tools.file = "fs.yaml";
  tools.rules = {{.tools = {"write_*", "move"}, .action = Action::block, .position = {10, 5}},
                 {.tools = {"noted"}, .position = {12, 5}},
                 {.tools = {"*"}, .action = Action::flag, .position = {14, 5}}};
  return tools;
}

}  // namespace

TEST_CASE("the first rule that matches and has an action decides") {
  const Verdict verdict = evaluate(sample(), "write_file", Effect::read);
  CHECK(verdict.action == Action::block);
  CHECK(verdict.because == "rule 1 (fs.yaml:10:5)");
  CHECK(verdict.position == Position{10, 5});
  CHECK(evaluate(sample(), "move", Effect::read).action == Action::block);
}

TEST_CASE("a rule without an action is passed over") {
  const Verdict verdict = evaluate(sample(), "noted", Effect::read);
  CHECK(verdict.action == Action::flag);
  CHECK(verdict.because == "rule 3 (fs.yaml:14:5)");
}

TEST_CASE("without a matching rule the effect decides") {
  Tools tools = sample();
  tools.rules.pop_back();
  const std::array<std::pair<Effect, Action>, 6> expected = {{{Effect::read, Action::allow},
                                                              {Effect::write, Action::confirm},
                                                              {Effect::destructive, Action::block},
                                                              {Effect::execute, Action::block},
                                                              {Effect::send, Action::confirm},
                                                              {Effect::unknown, Action::block}}};
  for (const auto& [effect, action] : expected) {
    CHECK(evaluate(tools, "other", effect).action == action);
  }
  CHECK(evaluate(tools, "other", Effect::write).because == "effect write: confirm (default)");
  CHECK(evaluate(tools, "other", Effect::write).position == Position{});
}

TEST_CASE("an effect that the policy writes down is named with its line") {
  Tools tools;
  tools.file = "a\nb.yaml";
  tools.effects[Effect::write] = Action::allow;
  tools.effect_positions[Effect::write] = {7, 13};
  const Verdict verdict = evaluate(tools, "x", Effect::write);
  CHECK(verdict.action == Action::allow);
  CHECK(verdict.because == "effect write: allow (a\\nb.yaml:7:13)");
  CHECK(verdict.position == Position{7, 13});
}

TEST_CASE("an effect without an action is blocked") {
  Tools tools;
  tools.effects.clear();
  CHECK(evaluate(tools, "x", Effect::read).action == Action::block);
}

TEST_CASE("names of effects and actions read back") {
  for (const Effect effect :
       {Effect::read, Effect::write, Effect::destructive, Effect::execute, Effect::send, Effect::unknown}) {
    CHECK(cordon::policy::effect_from_name(name(effect)) == effect);
  }
  for (const Action action : {Action::allow, Action::flag, Action::confirm, Action::block, Action::hide}) {
    CHECK(cordon::policy::action_from_name(name(action)) == action);
  }
  CHECK(name(Effect::destructive) == "destructive");
  CHECK(name(Action::hide) == "hide");
  CHECK_FALSE(cordon::policy::effect_from_name("Read").has_value());
  CHECK_FALSE(cordon::policy::action_from_name("").has_value());
}
