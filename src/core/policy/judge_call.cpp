// SPDX-License-Identifier: Apache-2.0
#include "core/policy/judge_call.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/policy/named_arguments.hpp"

namespace cordon::policy {
namespace {

using json::Kind;
using json::Value;

std::string_view word(Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      return "holds";
    case Outcome::fails:
      return "does not hold";
    case Outcome::unclear:
      return "cannot be judged";
  }
  return "";
}

bool makes_ready(const std::vector<ArgumentCondition>& from, std::vector<Condition>& to) {
  for (const ArgumentCondition& condition : from) {
    Result<Condition> ready = Condition::compile(condition);
    if (!ready) {
      return false;
    }
    to.push_back(std::move(*ready));
  }
  return true;
}

}  // namespace

// One call on its way through the rules.
class CallJudge::Run {
 public:
  Run(const CallJudge& judge, const Call& call, const ServerView& view, Trace* trace)
      : judge_(judge), call_(call), view_(view), trace_(trace), schema_(call.schema) {}

  CallJudgement run(const Value& arguments) {
    arguments_ = arguments;
    const std::vector<catalog::EffectCondition> none;
    const auto& when = call_.when == nullptr ? none : *call_.when;
    out_.effects = call_effects({.base = call_.effect,
                                 .by_person = call_.effect_by_person,
                                 .when = when,
                                 .schema = schema_,
                                 .arguments = arguments_,
                                 .reasons = trace_ != nullptr});
    if (refuse_stray(when)) {
      return std::move(out_);
    }
    for (std::size_t i = 0; i < judge_.rules_.size(); ++i) {
      if (!names_tool(rule(i), call_.tool)) {
        say([&] { return text::cat(judge_.place_of(i), ": names other tools"); });
      } else if (step(i)) {
        add_limits_behind(i);
        return std::move(out_);
      }
    }
    out_.verdict = effects_verdict(judge_.tools_, out_.effects.all);
    say([&] { return out_.verdict.because; });
    return std::move(out_);
  }

 private:
  const Rule& rule(std::size_t i) const { return judge_.tools_.rules[i]; }

  template <typename Text>
  void say(const Text& text) {
    if (trace_ != nullptr) {
      trace_->push_back(text());
    }
  }

  void refuse(std::string because, Position position, Finding finding) {
    out_.refusal = finding.code;
    out_.verdict = {Action::block, std::move(because), position};
    out_.finding = std::move(finding);
  }

  // Every argument that is looked at before the rules are through, under any other name.
  bool refuse_stray(const std::vector<catalog::EffectCondition>& when) {
    const std::vector<ArgumentPointer> of_effects = effect_pointers(when);
    std::vector<const ArgumentPointer*> looked_at;
    for (const ArgumentPointer& pointer : of_effects) {
      looked_at.push_back(&pointer);
    }
    std::optional<std::size_t> first;
    bool decided = false;
    for (std::size_t i = 0; i < judge_.rules_.size(); ++i) {
      // Behind the rule that decides only limits count.
      if (!names_tool(rule(i), call_.tool) || (decided && (rule(i).action || !has_limit(rule(i))))) {
        continue;
      }
      for (const auto* list : {&judge_.rules_[i].when, &judge_.rules_[i].arguments}) {
        for (const Condition& condition : *list) {
          looked_at.push_back(&condition.pointer());
          first = first.value_or(i);
        }
      }
      decided = decided || (rule(i).action && rule(i).when.empty());
    }
    std::optional<Finding> found = stray_argument(schema_, arguments_, looked_at);
    if (!found) {
      return false;
    }
    const std::string because = first ? judge_.place_of(*first) : std::string("effect classes of the snapshot");
    say([&] { return text::cat("argument ", text::printable(found->pointer, 256), " ", found->reason); });
    refuse(text::cat(because, " looks at arguments"), first ? rule(*first).position : Position{}, std::move(*found));
    return true;
  }

  Finding check(const Condition& condition, std::size_t i, std::string_view part) {
    Finding found = condition.check(arguments_, view_);
    say([&] {
      if (found.outcome == Outcome::holds && !found.reason.empty()) {
        return text::cat(judge_.place_of(i), ": ", part, " ", text::printable(condition.text().pointer, 256), " ",
                         found.reason, ", which is allowed");
      }
      const bool by_text = !condition.text().within.empty() && view_.files != nullptr && !view_.files->follows_links();
      return text::cat(judge_.place_of(i), ": ", part, " ", text::printable(condition.text().pointer, 256), " ",
                       word(found.outcome), found.reason.empty() ? "" : ": ", found.reason,
                       by_text ? " (by its text; a session follows links)" : "");
    });
    return found;
  }

  // True: the call is decided.
  bool step(std::size_t i) {
    if (judge_.rules_[i].broken) {
      refuse(judge_.place_of(i), rule(i).position,
             {Outcome::unclear, Errc::argument_denied, {}, "is judged by a condition that cannot be used"});
      return true;
    }
    std::optional<Finding> unsure;
    for (const Condition& condition : judge_.rules_[i].when) {
      Finding found = check(condition, i, "when");
      if (found.outcome == Outcome::fails) {
        say([&] { return text::cat(judge_.place_of(i), ": not matched"); });
        return false;
      }
      if (found.outcome == Outcome::unclear && !unsure) {
        unsure = std::move(found);
      }
    }
    if (unsure) {
      refuse(text::cat(judge_.place_of(i), ", when"), rule(i).position, std::move(*unsure));
      return true;
    }
    for (const Condition& condition : judge_.rules_[i].arguments) {
      Finding found = check(condition, i, "argument");
      if (found.outcome != Outcome::holds) {
        refuse(judge_.place_of(i), rule(i).position, std::move(found));
        return true;
      }
    }
    out_.rules.push_back(i);
    if (has_limit(rule(i))) {
      out_.limits.push_back(i);
    }
    const std::optional<Action>& action = rule(i).action;
    say([&] {
      return text::cat(judge_.place_of(i), ": matched; ",
                       action ? text::cat("decides: ", name(*action)) : std::string("it has no action, so on it goes"));
    });
    if (action) {
      out_.verdict = {*action, judge_.place_of(i), rule(i).position};
    }
    return action.has_value();
  }

  // A limit of a rule without an action holds wherever that stands. One that cannot be told from another counts.
  void add_limits_behind(std::size_t decided) {
    for (std::size_t i = decided + 1; i < judge_.rules_.size(); ++i) {
      if (rule(i).action || !has_limit(rule(i)) || !names_tool(rule(i), call_.tool)) {
        continue;
      }
      const auto fails = [&](const Condition& condition) {
        return condition.check(arguments_, view_).outcome == Outcome::fails;
      };
      if (judge_.rules_[i].broken || std::ranges::none_of(judge_.rules_[i].when, fails)) {
        out_.limits.push_back(i);
        say([&] { return text::cat(judge_.place_of(i), ": adds its limits"); });
      }
    }
  }

  const CallJudge& judge_;
  const Call& call_;
  const ServerView& view_;
  Trace* trace_;
  SchemaWalk schema_;
  Value arguments_ = {};
  CallJudgement out_ = {};
};

CallJudge::CallJudge(const Tools& tools) : tools_(tools) {
  for (const Rule& rule : tools_.rules) {
    Ready ready;
    ready.broken = !makes_ready(rule.when, ready.when) || !makes_ready(rule.arguments, ready.arguments);
    ready.place = rule_place(tools_, rules_.size());
    rules_.push_back(std::move(ready));
  }
}

bool CallJudge::looks_at_arguments(std::string_view tool) const {
  return std::ranges::any_of(tools_.rules, [&](const Rule& rule) {
    return (!rule.when.empty() || !rule.arguments.empty()) && names_tool(rule, tool);
  });
}

std::vector<std::string> idle_rules(const Tools& tools, const catalog::Snapshot& snapshot) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < tools.rules.size(); ++i) {
    const auto named = [&](const catalog::PinnedTool& tool) { return names_tool(tools.rules[i], tool.name); };
    if (std::ranges::none_of(snapshot.tools, named)) {
      out.push_back(rule_place(tools, i));
    }
  }
  return out;
}

bool looks_at_paths(const Tools& tools) {
  const auto of_path = [](const ArgumentCondition& condition) { return !condition.within.empty(); };
  return std::ranges::any_of(tools.rules, [&](const Rule& rule) {
    return std::ranges::any_of(rule.when, of_path) || std::ranges::any_of(rule.arguments, of_path);
  });
}

CallJudgement CallJudge::judge(const Call& call, const ServerView& view, Trace* trace) const {
  Run run(*this, call, view, trace);
  if (call.arguments && !call.arguments.is(Kind::null)) {
    return run.run(call.arguments);
  }
  const Result<json::Document> none = json::read("{}", {});
  CORDON_ASSERT(none.has_value());
  return run.run(none->root());
}

}  // namespace cordon::policy
