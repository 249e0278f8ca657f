// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

constexpr std::size_t kMaxGlobBytes = 256;  // as long as a tool's name can be

std::optional<policy::Action> read_action(Faults& faults, const yaml::Node& node, std::string_view what) {
  using policy::Action;
  return read_choice<Action>(faults, node, what,
                             {{"allow", Action::allow},
                              {"flag", Action::flag},
                              {"confirm", Action::confirm},
                              {"block", Action::block},
                              {"hide", Action::hide}});
}

void read_effects(Faults& faults, const yaml::Node& node, policy::Tools& tools) {
  const Section section(faults, node, "tools.effects", {"read", "write", "destructive", "execute", "send", "unknown"});
  for (const yaml::Member& member : node.members) {
    const auto effect = policy::effect_from_name(member.key);
    if (!effect) {
      continue;  // reported by the section
    }
    if (const auto action = read_action(faults, member.value, section.path(member.key))) {
      tools.effects[*effect] = *action;
      tools.effect_positions[*effect] = member.position;
    }
  }
}

void read_glob(Faults& faults, const yaml::Node& node, policy::Rule& rule) {
  auto glob = read_text(faults, node, "an item of tools");
  if (!glob) {
    return;
  }
  // A rule that hides "{delete,remove}_*" and then matches nothing would be a hole.
  if (glob->find_first_of("[]{}\\!") != std::string::npos) {
    faults.add(node.position, text::cat("only * and ? are special in a glob: ", quote(*glob)),
               "write one glob for each alternative, and ? for a character such as [ that a name really has");
  } else if (glob->size() > kMaxGlobBytes) {
    faults.add(node.position, text::cat("a glob has more than ", kMaxGlobBytes, " bytes"),
               "use * for the middle of a long name");
  } else if (std::ranges::find(rule.tools, *glob) != rule.tools.end()) {
    faults.add(node.position, text::cat("the glob ", quote(*glob), " stands twice in one rule"), "keep one of them");
  } else {
    rule.tools.push_back(std::move(*glob));
  }
}

policy::Rule read_rule(Faults& faults, const yaml::Node& node) {
  policy::Rule rule;
  rule.position = node.position;
  const Section section(
      faults, node, "tools.rules",
      {"tools", "when", "action", "arguments", "calls_per_minute", "calls_in_flight", "answer_timeout_seconds"});
  if (const yaml::Member* globs = section.find("tools")) {
    if (const auto* items = read_list(faults, globs->value, "tools of a rule", ListEmptiness::refused)) {
      for (const yaml::Node& item : *items) {
        read_glob(faults, item, rule);
      }
    }
  } else if (node.kind == yaml::Kind::mapping) {
    faults.add(node.position, "a rule names no tools", "write tools: [GLOB, ...], or [\"*\"] for all");
  }
  read_limits(faults, section, rule);
  if (const yaml::Member* when = section.find("when")) {
    rule.when = read_conditions(faults, when->value, "when");
  }
  if (const yaml::Member* arguments = section.find("arguments")) {
    rule.arguments = read_conditions(faults, arguments->value, "arguments");
  }
  if (const yaml::Member* action = section.find("action")) {
    rule.action = read_action(faults, action->value, "action of a rule");
  } else if (node.kind == yaml::Kind::mapping && !section.has_faulty_key() && !section.find("arguments") &&
             !section.find("calls_per_minute") && !section.find("calls_in_flight") &&
             !section.find("answer_timeout_seconds")) {
    faults.add(node.position, "a rule has no action, no conditions and no limits, so it does nothing",
               "add action: allow, flag, confirm, block or hide, or arguments, or a limit such as calls_per_minute");
  }
  return rule;
}

}  // namespace

policy::Tools read_tools(Faults& faults, const yaml::Node& node) {
  policy::Tools tools;
  const Section section(faults, node, "tools", {"effects", "read_only", "annotations", "schema", "confirm", "rules"});
  if (const yaml::Member* effects = section.find("effects")) {
    read_effects(faults, effects->value, tools);
  }
  section.boolean("read_only", tools.read_only);
  section.choice<policy::Annotations>(
      "annotations", tools.annotations,
      {{"reviewed", policy::Annotations::reviewed}, {"server", policy::Annotations::server}});
  if (const yaml::Member* confirm = section.find("confirm")) {
    tools.confirm = read_confirm(faults, confirm->value);
  }
  section.choice<policy::SchemaCheck>("schema", tools.schema,
                                      {{"off", policy::SchemaCheck::off}, {"enforce", policy::SchemaCheck::enforce}});
  if (const yaml::Member* rules = section.find("rules")) {
    if (const auto* items = read_list(faults, rules->value, "tools.rules", ListEmptiness::allowed)) {
      for (const yaml::Node& item : *items) {
        tools.rules.push_back(read_rule(faults, item));
      }
    }
  }
  check_unreachable(faults, tools.rules);
  return tools;
}

}  // namespace cordon::formats
