// SPDX-License-Identifier: Apache-2.0
#include "core/policy/idle.hpp"

#include <algorithm>

#include "core/json/read.hpp"
#include "core/policy/argument_pointer.hpp"
#include "core/policy/evaluate.hpp"
#include "core/policy/schema_walk.hpp"

namespace cordon::policy {
namespace {

// What a * may stand for, as far as the schema names it.
Schemas below(const SchemaWalk& schema, const Schemas& at) {
  Schemas out = schema.elements(at);
  for (const json::Value node : at) {
    for (const json::Member member : node.find("properties").members()) {
      std::ranges::copy(schema.member({node}, member.key.string()), std::back_inserter(out));
    }
  }
  return out;
}

bool knows(const SchemaWalk& schema, const ArgumentPointer& pointer) {
  Schemas at = schema.top();
  for (const std::string& token : pointer.tokens()) {
    const bool digits = !token.empty() && token.find_first_not_of("0123456789") == std::string::npos;
    Schemas next = token == "*" ? below(schema, at) : digits ? schema.elements(at) : Schemas();
    if (next.empty() && token == "*") {
      return true;  // of whatever is there
    }
    if (next.empty()) {
      if (!SchemaWalk::names(at, token)) {
        return false;
      }
      next = schema.member(at, token);
    }
    at = std::move(next);
  }
  return true;
}

}  // namespace

std::vector<IdleCondition> idle_conditions(const Tools& tools, const catalog::Snapshot& snapshot) {
  std::vector<IdleCondition> out;
  for (std::size_t i = 0; i < tools.rules.size(); ++i) {
    const Rule& rule = tools.rules[i];
    if (rule.when.empty() && rule.arguments.empty()) {
      continue;
    }
    std::vector<json::Document> definitions;
    for (const catalog::PinnedTool& tool : snapshot.tools) {
      if (names_tool(rule, tool.name)) {
        if (auto definition = json::read(tool.definition, {.max_bytes = tool.definition.size(), .max_depth = 512})) {
          definitions.push_back(std::move(*definition));
        }
      }
    }
    for (const auto* conditions : {&rule.when, &rule.arguments}) {
      for (const ArgumentCondition& condition : *conditions) {
        const auto pointer = ArgumentPointer::parse(condition.pointer);
        const auto known = [&](const json::Document& definition) {
          return knows(SchemaWalk(definition.root().find("inputSchema")), *pointer);
        };
        if (pointer && !definitions.empty() && std::ranges::none_of(definitions, known)) {
          out.push_back({i, condition.position, condition.pointer});
        }
      }
    }
  }
  return out;
}

}  // namespace cordon::policy
