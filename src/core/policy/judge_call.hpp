// SPDX-License-Identifier: Apache-2.0
#pragma once
// One call judged by its own arguments: the rules in their order, then the effect classes. The pin comes before (gate).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/json/value.hpp"
#include "core/policy/call_effect.hpp"
#include "core/policy/condition.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/policy.hpp"

namespace cordon::policy {

struct Call {
  std::string_view tool = {};
  Effect effect = Effect::unknown;  // of the tool
  bool effect_by_person = false;
  const std::vector<catalog::EffectCondition>* when = nullptr;  // borrowed; null: none
  json::Value schema = {};                                      // the reviewed input schema
  json::Value arguments = {};                                   // absent or null: none
};

struct CallJudgement {
  Verdict verdict = {};
  // Nothing of the rest of the verdict counts then: argument_denied, message_ambiguous. `verdict.because` names the
  // rule.
  std::optional<Errc> refusal = {};
  Finding finding = {};                 // of a refusal: where and why, in our words
  CallEffects effects = {};             // of this call
  std::vector<std::size_t> rules = {};  // that apply (selected, and their conditions hold), in order; from 0
  // Those among them that set a limit, and all further ones without an action that do and select the call.
  std::vector<std::size_t> limits = {};
};

// For a person: what was looked at, one line each.
using Trace = std::vector<std::string>;

class CallJudge {
 public:
  // A condition that cannot be made ready (no reader of ours lets one through) refuses every call that meets its rule.
  explicit CallJudge(const Tools& tools);

  CallJudgement judge(const Call& call, const ServerView& view, Trace* trace = nullptr) const;

  // False: the rules say the same of each call of this tool, and need no schema.
  bool looks_at_arguments(std::string_view tool) const;

 private:
  struct Ready {
    std::vector<Condition> when = {};
    std::vector<Condition> arguments = {};
    std::string place = {};  // for audit: every call names its rule
    bool broken = false;
  };
  class Run;
  const std::string& place_of(std::size_t rule) const { return rules_[rule].place; }

  Tools tools_;
  std::vector<Ready> rules_ = {};
};

// "rule 2 (FILE:LINE:COLUMN)" for each rule that names no tool of the snapshot: a slip of the pen, or a tool that went.
std::vector<std::string> idle_rules(const Tools& tools, const catalog::Snapshot& snapshot);

// Is there a condition of `within`?
bool looks_at_paths(const Tools& tools);

}  // namespace cordon::policy
