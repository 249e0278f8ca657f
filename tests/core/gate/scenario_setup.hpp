// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of a scenario before its conversation: policy and snapshot, a line each (tests/vectors/README.md).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/catalog/lists.hpp"
#include "core/gate/session.hpp"
#include "core/json/value.hpp"
#include "core/policy/paths.hpp"
#include "core/policy/policy.hpp"

namespace cordon::test {

class ScenarioSetup {
 public:
  ScenarioSetup();
  // False: the line is none of ours.
  bool configure(int line, const std::string& verb, const std::string& rest);

 protected:
  void problem(int line, const std::string& what);

  policy::LexicalPaths paths_ = {};
  gate::SessionConfig config_;
  catalog::Snapshot snapshot_;
  bool without_snapshot_ = false;
  std::vector<std::string> problems_;

 private:
  // {"pointer": …} and the members of a condition, for the last rule.
  void rule_condition(int line, const std::string& verb, const std::string& condition);
  static policy::ArgumentCondition condition_of(const json::Value& from);
  // TOOL POINTER[=VALUE] EFFECT
  void pinned_when(const std::vector<std::string_view>& parts);
  static std::optional<catalog::ListKind> pin_verb(const std::string& verb);
  void pin_item(int line, catalog::ListKind kind, const std::string& definition);
  // NAME KIND, or NAME = VALUE for one that is known; NAME @ ITEM KEY POINTER OFFSET LENGTH for a place.
  void variable(int line, const std::vector<std::string_view>& parts);
  void item_policy(int line, const std::string& verb, const std::string& what, policy::Action action);
  bool pin(int line, const std::string& rest);
  // GLOB KIND=N …: a rule that only adds limits.
  void limit(int line, const std::vector<std::string_view>& parts);
  void set_drift(int line, const std::string& rest);
  // KIND=ACTION of client_requests, `host=NAME` of elicitation_hosts, `root=FOLDER`.
  void ask(int line, const std::string& rest);
  static policy::Results::Treatment treatment(std::string_view name);
  void set(int line, const std::string& rest);
};

}  // namespace cordon::test
