// SPDX-License-Identifier: Apache-2.0
// A read-only session over the labelled tools of released servers (tests/data/effects): a person has accepted every
// proposal as it stands, also the mildest. What the label calls more than read must not pass, whatever is asked.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "core/catalog/effects.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/call_effect.hpp"

using namespace cordon;
using policy::Effect;

namespace {

struct Tried {
  int calls = 0;
  int reads = 0;                           // of tools that only read: passed
  std::vector<std::string> passed = {};    // of the others
  std::vector<std::string> by_value = {};  // of the others, with a value that has a class of its own
};

// None; each parameter alone, with each of its listed values; and all of them at once.
std::vector<std::string> argument_sets(const json::Value& schema) {
  std::vector<std::string> sets = {"{}"};
  json::Writer all;
  all.begin_object();
  for (const json::Member member : schema.find("properties").members()) {
    std::vector<std::string> values;
    for (const json::Value listed : member.value.find("enum").elements()) {
      values.push_back(json::canonical(listed));
    }
    if (values.empty()) {
      values = {R"("x")", "true", R"(["x"])", R"({"x":1})"};
    }
    for (const std::string& value : values) {
      sets.push_back(json::Writer().begin_object().member_raw(member.key.string(), value).end_object().take());
    }
    all.member_raw(member.key.string(), values.back());
  }
  sets.push_back(all.end_object().take());
  return sets;
}

void try_tool(const json::Value& tool, Tried& tried) {
  const json::Value definition = tool.find("definition");
  const catalog::EffectProposal proposal = catalog::propose_effect(definition);
  std::vector<catalog::EffectCondition> when;
  for (const catalog::ConditionalEffect& one : proposal.when) {
    when.push_back({one.argument, one.value, std::string(one.effect)});
  }
  const json::Value schema = definition.find("inputSchema");
  const policy::SchemaWalk walk(schema);
  for (const std::string& arguments : argument_sets(schema)) {
    const auto document = json::read(arguments, {});
    REQUIRE(document.has_value());
    const bool passes = policy::call_effects({.base = policy::effect_from_name(proposal.effect).value(),
                                              .by_person = true,
                                              .when = when,
                                              .schema = walk,
                                              .arguments = document->root()})
                            .only(Effect::read);
    ++tried.calls;
    if (passes && tool.find("effect").string() == "read") {
      ++tried.reads;
    } else if (passes) {
      (when.empty() ? tried.passed : tried.by_value)
          .push_back(text::cat(definition.find("name").string(), ' ', arguments));
    }
  }
}

Tried try_part(const std::string& part) {
  std::ifstream file(text::cat(CORDON_TEST_DATA, "/effects/", part, ".json"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto document = json::read(text, {.max_bytes = text.size()});
  REQUIRE(document.has_value());
  Tried tried;
  for (const json::Value server : document->root().find("servers").elements()) {
    for (const json::Value tool : server.find("tools").elements()) {
      try_tool(tool, tried);
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("a read-only session lets no write of the labelled tools through") {
  for (const std::string part : {"tuned", "held-out"}) {
    CAPTURE(part);
    const Tried tried = try_part(part);
    CHECK(tried.calls > 500);
    CHECK(tried.reads > 100);
    CHECK(text::join(tried.passed, "\n") == "");
    // Found right by reading each: the tool does more, this value does not.
    const std::string reads = part == "tuned" ? R"(browser_tabs {"action":"list"}
git_branch {"mode":"list"}
git_branch {"mode":"show-current"}
git_remote {"mode":"list"}
git_remote {"mode":"get-url"}
git_stash {"mode":"list"}
git_tag {"mode":"list"}
git_tag {"mode":"verify"}
git_worktree {"mode":"list"})"
                                              : R"(kubectl_context {"operation":"list"}
kubectl_context {"operation":"get"})";
    CHECK(text::join(tried.by_value, "\n") == reads);
  }
}
