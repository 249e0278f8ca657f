// SPDX-License-Identifier: Apache-2.0
#include "core/gate/variable_view.hpp"

#include <algorithm>

#include "core/catalog/lists.hpp"
#include "core/policy/evaluate.hpp"

namespace cordon::gate {
namespace {

using catalog::ListKind;
using catalog::VariableRule;
using policy::Variable;
using std::string_view;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool consists_of(string_view text, string_view characters) {
  return text.find_first_not_of(characters) == string_view::npos;
}

constexpr string_view kDigits = "0123456789";

bool is_known(const VariableRule& rule, string_view value) { return rule.known == value; }
bool is_path(const VariableRule&, string_view value) {
  return (value.starts_with('/') || value.starts_with("~/")) && std::ranges::none_of(value, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '`' || c == '<' || c == '>';
         });
}
bool is_date(const VariableRule&, string_view value) {
  return consists_of(value, "0123456789-/.:TZ+ ") && std::ranges::count_if(value, is_digit) >= 4;
}
bool is_integer(const VariableRule&, string_view value) {
  const string_view digits = value.starts_with('-') ? value.substr(1) : value;
  return !digits.empty() && digits.size() <= 20 && consists_of(digits, kDigits);
}
// 1.2, v1.2.3, 1.2.3-rc.1+build
bool is_version(const VariableRule&, string_view value) {
  const string_view text = value.starts_with('v') ? value.substr(1) : value;
  const string_view numbers = text.substr(0, text.find_first_of("-+"));
  return !numbers.empty() && is_digit(numbers.front()) && is_digit(numbers.back()) &&
         consists_of(numbers, "0123456789.") && numbers.find("..") == string_view::npos && text.size() <= 64 &&
         consists_of(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-+");
}
bool is_pattern(const VariableRule& rule, string_view value) { return policy::glob_match(rule.argument, value); }
bool is_never(const VariableRule&, string_view) { return false; }

VariableRule rule_of(const Variable& variable) {
  switch (variable.kind) {
    case Variable::Kind::path:
      return {is_path, {}, {}};
    case Variable::Kind::date:
      return {is_date, {}, {}};
    case Variable::Kind::integer:
      return {is_integer, {}, {}};
    case Variable::Kind::version:
      return {is_version, {}, {}};
    case Variable::Kind::pattern:
      return {is_pattern, variable.pattern, {}};
    case Variable::Kind::cwd:
    case Variable::Kind::home:
    case Variable::Kind::roots:
    case Variable::Kind::argument:
      return {is_known, {}, {}};
  }
  return {is_never, {}, {}};
}

}  // namespace

catalog::VariableRules variable_rules(const policy::Catalog& policy, const std::map<std::string, std::string>& known) {
  catalog::VariableRules rules;
  for (const auto& [name, variable] : policy.variables) {
    VariableRule rule = rule_of(variable);
    if (const auto value = known.find(name); value != known.end()) {
      rule.known = value->second;
    }
    rules.emplace(name, std::move(rule));
  }
  return rules;
}

Variables::Variables(const policy::Catalog& policy, const std::map<std::string, std::string>& known,
                     catalog::Snapshot& snapshot)
    : rules_(variable_rules(policy, known)), reviewed_(snapshot) {
  for (const auto& [name, variable] : policy.variables) {
    if (variable.kind == Variable::Kind::date || variable.kind == Variable::Kind::integer) {
      moving_.insert(name);
    }
  }
  for (catalog::PinnedTool& tool : snapshot.tools) {
    tool.definition = catalog::with_known_values(rules_, reviewed_.variables, "tool", tool.name, tool.definition);
  }
  for (const ListKind kind : catalog::kItemKinds) {
    for (catalog::PinnedItem& item : snapshot.items(kind)) {
      item.definition =
          catalog::with_known_values(rules_, reviewed_.variables, catalog::names(kind).item, item.key, item.definition);
    }
  }
  if (snapshot.instructions) {
    snapshot.instructions =
        catalog::text_with_known_values(rules_, reviewed_.variables, "instructions", *snapshot.instructions);
  }
}

// One value in the whole catalog, but for what changes while a server runs: lists are read at different times.
void Variables::keep(const catalog::VariableReader& reader) {
  for (const auto& [name, value] : reader.values()) {
    if (!moving_.contains(name)) {
      values_.emplace(name, value);
    }
  }
}

void Variables::settle(ListKind kind, LiveList& live) {
  catalog::VariableReader reader(rules_, reviewed_.variables, catalog::Shown::known, values_);
  for (LiveItem& item : live.items) {
    std::string_view pinned;
    if (kind == ListKind::tools) {
      const catalog::PinnedTool* tool = reviewed_.find(item.name);
      pinned = tool == nullptr ? std::string_view() : std::string_view(tool->definition);
    } else {
      const catalog::PinnedItem* known = reviewed_.find(kind, item.name);
      pinned = known == nullptr ? std::string_view() : std::string_view(known->definition);
    }
    if (!pinned.empty()) {
      item.definition = reader.settled(catalog::names(kind).item, item.name, pinned, item.definition);
    }
  }
  keep(reader);
}

void Variables::settle(Identity& live) {
  if (live.instructions && reviewed_.instructions) {
    catalog::VariableReader reader(rules_, reviewed_.variables, catalog::Shown::known, values_);
    live.instructions = reader.settled_text("instructions", *reviewed_.instructions, *live.instructions);
    keep(reader);
  }
}

}  // namespace cordon::gate
