// SPDX-License-Identifier: Apache-2.0
#include "core/gate/scenario_setup.hpp"

#include <span>

#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/gate/scenario_text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::test {

ScenarioSetup::ScenarioSetup() {
  config_.policy.server = "fake";
  config_.session_id = "t";
  config_.version = "0";
  config_.view = {.cwd = "/data", .home = "/home/cordon", .files = &paths_};
  snapshot_.server = "fake";
  snapshot_.server_info = R"({"name":"fake","version":"1"})";
  snapshot_.capabilities = R"({"logging":{},"tools":{"listChanged":true}})";
  for (auto& [effect, action] : config_.policy.tools.effects) {
    action = effect == policy::Effect::read ? policy::Action::allow : policy::Action::block;
  }
}

void ScenarioSetup::problem(int line, const std::string& what) {
  problems_.push_back(text::cat("line ", line, ": ", what));
}

bool ScenarioSetup::configure(int line, const std::string& verb, const std::string& rest) {
  if (verb == "pin") {
    return pin(line, rest);
  }
  if (const auto kind = pin_verb(verb)) {
    pin_item(line, *kind, rest);
    return true;
  }
  if (verb == "pinned-interface") {
    const auto parts = text::split(rest, ' ');
    for (catalog::PinnedTool& tool : snapshot_.tools) {
      if (tool.name == parts[0]) {
        tool.interface = parts[1];
      }
    }
    return true;
  }
  if (verb == "variable") {
    variable(line, text::split(rest, ' '));
    return true;
  }
  if (verb == "dynamic") {
    config_.policy.catalog.dynamic.push_back(rest);
    return true;
  }
  if (verb == "uri-rule" || verb == "items") {
    const std::size_t last = rest.rfind('=');
    item_policy(line, verb, rest.substr(0, last), *policy::action_from_name(rest.substr(last + 1)));
    return true;
  }
  if (verb == "snapshot") {
    without_snapshot_ = rest == "none";
    config_.policy.catalog.missing = policy::Missing::flag;
  } else if (verb == "pinned-instructions") {
    snapshot_.instructions = rest;
  } else if (verb == "pinned-capabilities") {
    snapshot_.capabilities = rest;
  } else if (verb == "effect") {
    const auto parts = text::split(rest, '=');
    config_.policy.tools.effects[*policy::effect_from_name(parts[0])] = *policy::action_from_name(parts[1]);
  } else if (verb == "rule") {
    const auto parts = text::split(rest, '=');
    config_.policy.tools.rules.push_back(
        {.tools = {std::string(parts[0])}, .action = policy::action_from_name(parts[1])});
  } else if (verb == "rule-when" || verb == "rule-argument") {
    rule_condition(line, verb, rest);
  } else if (verb == "pinned-when") {
    pinned_when(text::split(rest, ' '));
  } else if (verb == "limit") {
    limit(line, text::split(rest, ' '));
  } else if (verb == "drift") {
    set_drift(line, rest);
  } else if (verb == "set") {
    set(line, rest);
  } else if (verb == "ask") {
    ask(line, rest);
  } else if (verb == "launch-failure") {
    const std::size_t space = rest.find(' ');
    config_.launch_failure = Error{*errc_from_name(rest.substr(0, space)), rest.substr(space + 1), {}, {}};
  } else {
    return false;
  }
  return true;
}

void ScenarioSetup::rule_condition(int line, const std::string& verb, const std::string& condition) {
  const auto document = json::read(condition, {});
  if (!document || config_.policy.tools.rules.empty()) {
    problem(line, "no condition, or no rule that it belongs to");
    return;
  }
  policy::Rule& rule = config_.policy.tools.rules.back();
  (verb == "rule-when" ? rule.when : rule.arguments).push_back(condition_of(document->root()));
}

policy::ArgumentCondition ScenarioSetup::condition_of(const json::Value& from) {
  policy::ArgumentCondition out;
  out.pointer = from.find("pointer").string();
  out.optional = bool(from.find("optional"));
  out.forbid = bool(from.find("forbid"));
  for (const auto& [key, into] :
       {std::pair("within", &out.within), std::pair("matches", &out.matches), std::pair("hosts", &out.hosts)}) {
    for (const json::Value element : from.find(key).elements()) {
      into->push_back(element.string());
    }
  }
  for (const json::Value element : from.find("one_of").elements()) {
    out.one_of.push_back(json::canonical(element));
  }
  if (const json::Value most = from.find("maximum")) {
    out.maximum = most.safe_integer();
  }
  return out;
}

void ScenarioSetup::pinned_when(const std::vector<std::string_view>& parts) {
  for (catalog::PinnedTool& tool : snapshot_.tools) {
    if (tool.name == parts[0]) {
      const auto sides = text::split(parts[1], '=');
      tool.when.push_back({std::string(sides[0]),
                           sides.size() > 1 ? std::optional(std::string(sides[1])) : std::nullopt,
                           std::string(parts[2])});
    }
  }
}

std::optional<catalog::ListKind> ScenarioSetup::pin_verb(const std::string& verb) {
  return verb == "pin-prompt"     ? std::optional(catalog::ListKind::prompts)
         : verb == "pin-resource" ? std::optional(catalog::ListKind::resources)
         : verb == "pin-template" ? std::optional(catalog::ListKind::templates)
                                  : std::nullopt;
}

void ScenarioSetup::pin_item(int line, catalog::ListKind kind, const std::string& definition) {
  const auto document = json::read(definition, {});
  const auto item = document ? catalog::read_item(kind, document->root())
                             : Result<catalog::Item>(fail(Errc::catalog_invalid, "no JSON"));
  if (!item) {
    problem(line, "the pinned definition cannot be read: " + item.error().detail);
    return;
  }
  snapshot_.items(kind).push_back({item->key, item->definition, catalog::item_digest(item->definition)});
}

void ScenarioSetup::variable(int line, const std::vector<std::string_view>& parts) {
  using Kind = policy::Variable::Kind;
  const std::string name(parts[0]);
  if (parts.size() == 7 && parts[1] == "@") {
    snapshot_.variables.push_back({std::string(parts[2]), std::string(parts[3]), std::string(parts[4]),
                                   number(parts[5]), number(parts[6]), name});
  } else if (parts.size() == 3 && parts[1] == "=") {
    config_.policy.catalog.variables[name].kind = Kind::home;
    config_.known_values[name] = parts[2];
  } else if (parts.size() == 2 && (parts[1] == "date" || parts[1] == "path")) {
    config_.policy.catalog.variables[name].kind = parts[1] == "date" ? Kind::date : Kind::path;
  } else {
    problem(line, "unknown variable");
  }
}

void ScenarioSetup::item_policy(int line, const std::string& verb, const std::string& what, policy::Action action) {
  policy::Policy& policy = config_.policy;
  if (verb == "uri-rule") {
    policy.resources.rules.push_back({{what}, action, {}});
  } else if (what == "prompts") {
    policy.prompts.standard = action;
  } else if (what == "resources") {
    policy.resources.standard = action;
  } else if (what == "templates") {
    policy.resources.templates = action;
  } else {
    problem(line, "unknown items");
  }
}

bool ScenarioSetup::pin(int line, const std::string& rest) {
  const auto parts = text::split(rest, ' ');
  const std::string definition = rest.substr(parts[0].size() + parts[1].size() + 2);
  const auto document = json::read(definition, {});
  if (!document) {
    problem(line, "the pinned definition is no JSON");
    return true;
  }
  catalog::PinnedTool tool;
  tool.name = document->root().find("name").string();
  tool.definition = json::canonical(document->root());
  tool.digest = catalog::tool_digest(tool.definition);
  tool.effect = parts[0];
  tool.effect_source = parts[1] == "reviewer" ? catalog::EffectSource::reviewer : catalog::EffectSource::proposed;
  snapshot_.tools.push_back(std::move(tool));
  return true;
}

void ScenarioSetup::limit(int line, const std::vector<std::string_view>& parts) {
  policy::Rule rule;
  rule.tools = {std::string(parts[0])};
  for (const std::string_view part : std::span(parts).subspan(1)) {
    const auto pair = text::split(part, '=');
    const auto value = static_cast<std::uint32_t>(number(pair[1]));
    if (pair[0] == "per_minute") {
      rule.calls_per_minute = value;
    } else if (pair[0] == "in_flight") {
      rule.calls_in_flight = value;
    } else if (pair[0] == "timeout") {
      rule.answer_timeout_seconds = value;
    } else {
      problem(line, "unknown limit");
    }
  }
  config_.policy.tools.rules.push_back(std::move(rule));
}

void ScenarioSetup::set_drift(int line, const std::string& rest) {
  const auto parts = text::split(rest, '=');
  const std::string_view value = parts[1];
  const policy::DriftAction action = value == "flag"     ? policy::DriftAction::flag
                                     : value == "block"  ? policy::DriftAction::block
                                     : value == "hide"   ? policy::DriftAction::hide
                                     : value == "pinned" ? policy::DriftAction::pinned
                                                         : policy::DriftAction::allow;
  policy::Drift& drift = config_.policy.catalog.drift;
  if (parts[0] == "added") {
    drift.added = action;
  } else if (parts[0] == "changed") {
    drift.changed = action;
  } else if (parts[0] == "changed-schema") {
    drift.changed_schema = action;
  } else if (parts[0] == "cosmetic") {
    drift.cosmetic = action;
  } else if (parts[0] == "instructions") {
    drift.instructions = action;
  } else if (parts[0] == "identity") {
    drift.identity = action;
  } else if (parts[0] == "capabilities") {
    drift.capabilities = action;
  } else {
    problem(line, "unknown drift");
  }
}

void ScenarioSetup::ask(int line, const std::string& rest) {
  using Roots = policy::ClientRequests::Roots;
  const auto parts = text::split(rest, '=');
  const std::string value(parts[1]);
  policy::ClientRequests& requests = config_.policy.client_requests;
  if (parts[0] == "sampling") {
    requests.sampling = *policy::action_from_name(value);
  } else if (parts[0] == "elicitation") {
    requests.elicitation = *policy::action_from_name(value);
  } else if (parts[0] == "roots") {
    requests.roots = value == "allow"   ? Roots::allow
                     : value == "flag"  ? Roots::flag
                     : value == "block" ? Roots::block
                                        : Roots::policy;
  } else if (parts[0] == "host") {
    requests.elicitation_hosts.push_back(value);
  } else if (parts[0] == "root") {
    config_.roots.push_back(value);
  } else {
    problem(line, "unknown question");
  }
}

policy::Results::Treatment ScenarioSetup::treatment(std::string_view name) {
  using Treatment = policy::Results::Treatment;
  return name == "off" ? Treatment::off : name == "flag" ? Treatment::flag : Treatment::strip;
}

void ScenarioSetup::set(int line, const std::string& rest) {
  const auto parts = text::split(rest, '=');
  const std::size_t value = number(parts[1]);
  if (parts[0] == "max_bytes") {
    config_.policy.messages.max_bytes = value;
  } else if (parts[0] == "max_depth") {
    config_.policy.messages.max_depth = value;
  } else if (parts[0] == "in_flight") {
    config_.policy.messages.in_flight = value;
  } else if (parts[0] == "max_pages") {
    config_.policy.catalog.max_pages = value;
  } else if (parts[0] == "max_tools") {
    config_.policy.catalog.max_tools = value;
  } else if (parts[0] == "read_only") {
    config_.read_only = value != 0;
  } else if (parts[0] == "policy_read_only") {
    config_.policy.tools.read_only = value != 0;
  } else if (parts[0] == "can_respawn") {
    config_.can_respawn = value != 0;
  } else if (parts[0] == "can_approve") {
    config_.can_approve = value != 0;
  } else if (parts[0] == "confirm_seconds") {
    config_.policy.tools.confirm.timeout_seconds = static_cast<std::uint32_t>(value);
  } else if (parts[0] == "confirm_fallback") {
    config_.policy.tools.confirm.without_client_support =
        parts[1] == "block" ? policy::Confirm::Fallback::block : policy::Confirm::Fallback::approve;
  } else if (parts[0] == "remember") {
    config_.policy.tools.confirm.remember = parts[1] == "session"          ? policy::Confirm::Remember::session
                                            : parts[1] == "same_arguments" ? policy::Confirm::Remember::same_arguments
                                                                           : policy::Confirm::Remember::never;
  } else if (parts[0] == "secret") {
    config_.secrets.push_back({"TOKEN", std::string(parts[1])});
  } else if (parts[0] == "annotations") {
    config_.policy.tools.annotations = policy::Annotations::server;
  } else if (parts[0] == "hidden_text") {
    config_.policy.results.hidden_text = treatment(parts[1]);
  } else if (parts[0] == "terminal_escapes") {
    config_.policy.results.terminal_escapes = treatment(parts[1]);
  } else if (parts[0] == "secrets") {
    config_.policy.results.secrets =
        parts[1] == "redact" ? policy::Results::Secrets::redact : policy::Results::Secrets::flag;
    config_.secrets = {{"TOKEN", "correct horse"}};
  } else if (parts[0] == "output_schema") {
    config_.policy.results.structured = policy::SchemaCheck::enforce;
  } else if (parts[0] == "result_bytes") {
    config_.policy.results.max_bytes = value;
  } else if (parts[0] == "schema") {
    config_.policy.tools.schema = policy::SchemaCheck::enforce;
  } else if (parts[0] == "answer_timeout") {
    config_.policy.messages.answer_timeout_seconds = static_cast<std::uint32_t>(value);
  } else if (parts[0] == "arguments") {
    config_.policy.audit_arguments = policy::AuditArguments::full;
  } else {
    problem(line, "unknown setting");
  }
}

}  // namespace cordon::test
