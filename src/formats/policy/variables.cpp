// SPDX-License-Identifier: Apache-2.0
// catalog.variables: NAME: KIND, or NAME: {argument: N} or {pattern: GLOB, reason: TEXT}.
#include <algorithm>
#include <string>

#include "formats/policy/sections.hpp"

namespace cordon::formats {
namespace {

using policy::Variable;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && name.front() >= 'a' && name.front() <= 'z' &&
         std::ranges::all_of(
             name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

void read_mapping(Faults& faults, const yaml::Node& node, const std::string& what, Variable& variable) {
  const Section section(faults, node, what, {"argument", "pattern", "reason"});
  const yaml::Member* pattern = section.find("pattern");
  const yaml::Member* argument = section.find("argument");
  if ((pattern != nullptr) == (argument != nullptr)) {
    if (!section.has_faulty_key()) {
      faults.add(node.position, text::cat(what, " needs either argument or pattern"),
                 "write {argument: N} for an item of launch.command, or {pattern: GLOB, reason: TEXT}");
    }
    return;
  }
  section.text("reason", variable.reason, {.form = TextForm::free});
  if (argument != nullptr) {
    variable.kind = Variable::Kind::argument;
    section.integer("argument", variable.argument, {1, 10'000});
    return;
  }
  variable.kind = Variable::Kind::pattern;
  section.text("pattern", variable.pattern);
  if (variable.reason.empty()) {
    faults.add(pattern->position, text::cat(what, " has a pattern of its own without a reason"),
               "add reason: TEXT, or use path, date, integer or version");
  }
}

}  // namespace

std::map<std::string, Variable> read_variables(Faults& faults, const yaml::Node& node) {
  using Kind = Variable::Kind;
  std::map<std::string, Variable> out;
  if (node.kind != yaml::Kind::mapping) {
    faults.add(node.position, text::cat("catalog.variables must be a mapping, not ", kind_name(node)),
               "write {NAME: KIND}");
    return out;
  }
  for (const yaml::Member& member : node.members) {
    if (!is_name(member.key)) {
      faults.add(member.position, text::cat("no name for a variable: ", quote(member.key)),
                 "use small letters, digits, '_' and '-', beginning with a letter, at most 32");
      continue;
    }
    const std::string what = text::cat("catalog.variables.", member.key);
    Variable variable;
    variable.position = member.position;
    if (member.value.kind == yaml::Kind::mapping) {
      read_mapping(faults, member.value, what, variable);
    } else {
      variable.kind = read_choice<Kind>(faults, member.value, what,
                                        {{"path", Kind::path},
                                         {"date", Kind::date},
                                         {"integer", Kind::integer},
                                         {"version", Kind::version},
                                         {"cwd", Kind::cwd},
                                         {"home", Kind::home},
                                         {"roots", Kind::roots}},
                                        {})
                          .value_or(variable.kind);
    }
    out.emplace(member.key, std::move(variable));
  }
  return out;
}

}  // namespace cordon::formats
