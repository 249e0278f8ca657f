// SPDX-License-Identifier: Apache-2.0
#include "core/policy/judge_call.hpp"
#include "core/policy/idle.hpp"

#include <doctest/doctest.h>

#include "core/json/read.hpp"
#include "core/policy/idle.hpp"

using namespace cordon;
using policy::Action;
using policy::ArgumentCondition;
using policy::CallJudgement;
using policy::Effect;
using policy::Rule;
using policy::Tools;

namespace {

const std::string kSchema =
    R"({"type":"object","properties":{"path":{"type":"string"},"mode":{"enum":["list","delete"]},"filename":{},
        "items":{"type":"array","items":{"type":"object","properties":{"path":{}}}}}})";

struct Asked {
  std::string tool = "t";
  Effect effect = Effect::read;
  std::string schema = kSchema;
  std::vector<catalog::EffectCondition> when = {};
};

CallJudgement judge(const Tools& tools, const std::string& arguments, const Asked& asked = {},
                    policy::Trace* trace = nullptr) {
  policy::LexicalPaths files;
  const auto schema = json::read(asked.schema, {});
  const auto document = json::read(arguments, {});
  REQUIRE(schema.has_value());
  REQUIRE(document.has_value());
  return policy::CallJudge(tools).judge({.tool = asked.tool,
                                         .effect = asked.effect,
                                         .effect_by_person = true,
                                         .when = &asked.when,
                                         .schema = schema->root(),
                                         .arguments = document->root()},
                                        {.cwd = "/data", .home = "/home/cordon", .files = &files}, trace);
}

Tools tools_of(std::vector<Rule> rules) {
  Tools out;
  out.file = "p.yaml";
  out.rules = std::move(rules);
  int line = 10;
  for (Rule& rule : out.rules) {
    rule.position = {line++, 5};
  }
  return out;
}

ArgumentCondition within(std::string pointer, std::string folder) {
  return {.pointer = std::move(pointer), .within = {std::move(folder)}};
}
ArgumentCondition mode(std::string value) { return {.pointer = "/mode", .one_of = {'"' + value + '"'}}; }

}  // namespace

TEST_CASE("a call that fails a condition is denied, and never the next rule's case") {
  const Tools tools = tools_of({{.tools = {"t"}, .action = Action::allow, .arguments = {within("/path", "/data/out")}},
                                {.tools = {"*"}, .action = Action::allow}});
  CHECK(judge(tools, R"({"path":"/data/out/a"})").verdict.action == Action::allow);
  for (const char* denied : {R"({"path":"/etc/passwd"})", "{}", R"({"path":7})", R"({"path":["/data/out/a"]})",
                             R"({"path":"/data/out/%2e%2e/x"})", R"({"path":null})"}) {
    const CallJudgement judged = judge(tools, denied);
    CHECK_MESSAGE(judged.refusal == Errc::argument_denied, denied);
    CHECK_MESSAGE(judged.verdict.because == "rule 1 (p.yaml:10:5)", denied);
    CHECK_MESSAGE(judged.finding.pointer == "/path", denied);
  }
}

TEST_CASE("a rule without an action adds its conditions, and matching goes on") {
  const Tools tools =
      tools_of({{.tools = {"*"}, .arguments = {{.pointer = "/path", .optional = true, .max_length = 12}}},
                {.tools = {"t"}, .action = Action::flag}});
  const CallJudgement passed = judge(tools, R"({"path":"short"})");
  CHECK(passed.verdict.action == Action::flag);
  CHECK(passed.rules == std::vector<std::size_t>{0, 1});
  CHECK(judge(tools, R"({"path":"much too long for this"})").refusal == Errc::argument_denied);
}

TEST_CASE("the trace tells an argument that is not there from one that holds") {
  const Tools tools = tools_of({{.tools = {"t"},
                                 .action = Action::allow,
                                 .arguments = {{.pointer = "/path", .optional = true, .max_length = 12},
                                               {.pointer = "/items/*/path", .optional = true, .max_length = 12},
                                               {.pointer = "/filename", .forbid = true}}}});
  const auto lines = [&](const std::string& arguments) {
    policy::Trace trace;
    CHECK(judge(tools, arguments, {}, &trace).verdict.action == Action::allow);
    REQUIRE(trace.size() == 4);
    return trace;
  };
  const policy::Trace absent = lines(R"({"items":[]})");
  CHECK(absent[0].ends_with("argument /path is absent, which is allowed"));
  CHECK(absent[1].ends_with("argument /items/*/path is absent, which is allowed"));
  CHECK(absent[2].ends_with("argument /filename is absent, which is allowed"));
  const policy::Trace present = lines(R"({"path":"x","items":[{"path":"y"},{}]})");
  CHECK(present[0].ends_with("argument /path holds"));
  CHECK(present[1].ends_with("argument /items/*/path holds"));
}

TEST_CASE("`when` selects a rule by the arguments") {
  const Tools tools = tools_of({{.tools = {"t"}, .when = {mode("delete")}, .action = Action::block},
                                {.tools = {"t"}, .when = {{.pointer = "/filename"}}, .action = Action::confirm},
                                {.tools = {"t"}, .action = Action::allow}});
  CHECK(judge(tools, R"({"mode":"delete"})").verdict.action == Action::block);
  CHECK(judge(tools, R"({"mode":"list","filename":"x"})").verdict.action == Action::confirm);
  CHECK(judge(tools, R"({"mode":"list"})").verdict.action == Action::allow);
  CHECK(judge(tools, "{}").verdict.action == Action::allow);
}

TEST_CASE("an argument that `when` cannot judge does not pass on to the next rule") {
  const Tools tools = tools_of(
      {{.tools = {"t"}, .when = {mode("delete")}, .action = Action::block}, {.tools = {"t"}, .action = Action::allow}});
  for (const char* odd :
       {R"({"mode":["delete"]})", R"({"mode":"DELETE"})", R"({"mode":null})", R"({"mode":" delete"})"}) {
    const CallJudgement judged = judge(tools, odd);
    CHECK_MESSAGE(judged.refusal == Errc::argument_denied, odd);
    CHECK_MESSAGE(judged.verdict.because == "rule 1 (p.yaml:10:5), when", odd);
  }
  const Tools secret =
      tools_of({{.tools = {"t"}, .when = {within("/items/*/path", "/data/secret")}, .action = Action::block},
                {.tools = {"t"}, .action = Action::allow}});
  CHECK(judge(secret, R"({"items":[{"path":"/data/secret/a"}]})").verdict.action == Action::block);
  CHECK(judge(secret, R"({"items":[{"path":"/data/a"}]})").verdict.action == Action::allow);
  CHECK(judge(secret, R"({"items":[{"path":"/data/a"},{"path":"/data/secret/a"}]})").refusal == Errc::argument_denied);
  CHECK(judge(secret, R"({"items":[{"path":"/data/%2e/secret/a"}]})").verdict.action == Action::block);
  CHECK(judge(secret, R"({"items":[{"path":"/data/x/%2e%2e/secret/a"}]})").refusal == Errc::argument_denied);
}

TEST_CASE("an argument under another name is denied") {
  const Tools tools =
      tools_of({{.tools = {"t"}, .action = Action::allow, .arguments = {within("/path", "/data/out")}}});
  for (const char* stray : {R"({"path":"/data/out/a","Path":"/etc/x"})", R"({"path":"/data/out/a","pa_th":"/etc/x"})",
                            R"({"path":"/data/out/a","pa-th":"/etc/x"})", R"({"path":"/data/out/a","other":1})",
                            R"({"PATH":"/data/out/a"})"}) {
    const CallJudgement judged = judge(tools, stray);
    CHECK_MESSAGE(judged.refusal == Errc::argument_denied, stray);
    CHECK_MESSAGE(judged.finding.pointer != "/path", stray);
  }
  // Also where the schema names both.
  const Asked both{.schema = R"({"properties":{"path":{},"Path":{}}})"};
  CHECK(judge(tools, R"({"path":"/data/out/a","Path":"/etc/x"})", both).refusal == Errc::argument_denied);
  // And in the elements of a list.
  const Tools list =
      tools_of({{.tools = {"t"}, .action = Action::allow, .arguments = {within("/items/*/path", "/data")}}});
  CHECK(judge(list, R"({"items":[{"path":"/data/a"}]})").verdict.action == Action::allow);
  CHECK(judge(list, R"({"items":[{"path":"/data/a","PATH":"/etc"}]})").refusal == Errc::argument_denied);
  CHECK(judge(list, R"({"items":[{"path":"/data/a","to":"/etc"}]})").refusal == Errc::argument_denied);
}

TEST_CASE("nobody minds unknown arguments where none is looked at") {
  const Tools tools = tools_of({{.tools = {"u"}, .action = Action::allow, .arguments = {within("/path", "/data/out")}},
                                {.tools = {"t"}, .action = Action::allow},
                                {.tools = {"*"}, .arguments = {within("/path", "/data/out")}}});
  CHECK(judge(tools, R"({"anything":1})").verdict.action == Action::allow);
  CHECK(judge(tools, R"({"anything":1})", {.schema = "{}"}).verdict.action == Action::allow);
}

TEST_CASE("numbers that programs read differently are ambiguous") {
  const Tools tools =
      tools_of({{.tools = {"t"}, .action = Action::allow, .arguments = {{.pointer = "/path", .maximum = 5}}}});
  CHECK(judge(tools, R"({"path":9007199254740993})").refusal == Errc::message_ambiguous);
  CHECK(judge(tools, R"({"path":6})").refusal == Errc::argument_denied);
}

TEST_CASE("without a rule the strictest of the call's classes decides") {
  Tools tools;
  tools.effects[Effect::write] = Action::block;
  tools.effects[Effect::send] = Action::allow;
  const Asked asked{.when = {{"/filename", std::nullopt, "write"}, {"/path", std::nullopt, "send"}}};
  CHECK(judge(tools, "{}", asked).verdict.action == Action::allow);
  CHECK(judge(tools, R"({"path":"x"})", asked).verdict.action == Action::allow);
  const CallJudgement judged = judge(tools, R"({"path":"x","filename":"y"})", asked);
  CHECK(judged.verdict.action == Action::block);
  CHECK(judged.effects.all == std::vector<Effect>{Effect::send, Effect::write, Effect::read});
  // The snapshot looks at arguments as well.
  CHECK(judge(tools, R"({"FileName":"y"})", asked).refusal == Errc::argument_denied);
}

TEST_CASE("a condition that cannot be made ready refuses the call") {
  const Tools tools =
      tools_of({{.tools = {"t"}, .action = Action::allow, .arguments = {{.pointer = "/path", .not_matches = {"("}}}}});
  CHECK(judge(tools, R"({"path":"x"})").refusal == Errc::argument_denied);
}

TEST_CASE("a tool is hidden only when no call of it can pass") {
  const std::vector<Effect> read = {Effect::read};
  Tools tools = tools_of({{.tools = {"t"}, .when = {mode("list")}, .action = Action::allow},
                          {.tools = {"t", "u"}, .action = Action::hide}});
  CHECK(listing_verdict(tools, "t", read).action == Action::allow);
  CHECK(listing_verdict(tools, "u", read).action == Action::hide);
  tools = tools_of({{.tools = {"t"}, .when = {mode("delete")}, .action = Action::hide}});
  CHECK(listing_verdict(tools, "t", read).action == Action::allow);
  CHECK(judge(tools, R"({"mode":"delete"})").verdict.action == Action::hide);
  tools.effects[Effect::write] = Action::hide;
  CHECK(listing_verdict(tools, "x", {Effect::write}).action == Action::hide);
  CHECK(listing_verdict(tools, "x", {Effect::write, Effect::read}).action == Action::allow);
}

TEST_CASE("the trace says which rule, at which line, and why") {
  const Tools tools =
      tools_of({{.tools = {"other"}, .action = Action::block},
                {.tools = {"t"}, .when = {mode("delete")}, .action = Action::block},
                {.tools = {"t"}, .action = Action::allow, .arguments = {within("/path", "/data/out")}}});
  policy::Trace trace;
  judge(tools, R"({"mode":"list","path":"/etc/x"})", {}, &trace);
  CHECK(trace ==
        policy::Trace{"rule 1 (p.yaml:10:5): names other tools",
                      "rule 2 (p.yaml:11:5): when /mode does not hold: is none of one_of",
                      "rule 2 (p.yaml:11:5): not matched",
                      "rule 3 (p.yaml:12:5): argument /path does not hold: leads out of the folders of `within` "
                      "(by its text; a session follows links)"});
}

TEST_CASE("a rule that names no tool of the snapshot is told") {
  catalog::Snapshot snapshot;
  snapshot.tools = {{.name = "read_file"}, {.name = "write_file"}};
  const Tools tools = tools_of({{.tools = {"read_*"}, .action = Action::allow},
                                {.tools = {"wirte_file", "delete_*"}, .action = Action::block},
                                {.tools = {"*"}, .calls_per_minute = 3}});
  CHECK(policy::idle_rules(tools, snapshot) == std::vector<std::string>{"rule 2 (p.yaml:11:5)"});
}

TEST_CASE("a condition on an argument that no tool of its rule was reviewed with is told") {
  catalog::Snapshot snapshot;
  snapshot.tools = {
      {.name = "edit",
       .definition = R"({"inputSchema":{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array",
         "items":{"$ref":"#/$defs/edit"}},"more":{"type":"object","additionalProperties":true}},
         "$defs":{"edit":{"properties":{"text":{"type":"string"}}}}}})"},
      {.name = "read", .definition = R"({"inputSchema":{"type":"object","properties":{"file":{}}}})"}};
  const auto told = [&](std::vector<std::string> names, const std::string& pointer) {
    const Tools tools =
        tools_of({{.tools = std::move(names), .when = {{.pointer = pointer}}, .action = Action::allow}});
    return !policy::idle_conditions(tools, snapshot).empty();
  };
  for (const char* pointer : {"/path", "/edits/*/text", "/edits/0/text", "/more/*", "/more/*/x", "/*"}) {
    CAPTURE(pointer);
    CHECK_FALSE(told({"edit"}, pointer));
  }
  for (const char* pointer : {"/Path", "/edits/*/texts", "/edits/text", "/more/x", "/path/x", "/*/texts"}) {
    CAPTURE(pointer);
    CHECK(told({"edit"}, pointer));
  }
  CHECK_FALSE(told({"*"}, "/file"));
  CHECK_FALSE(told({"other"}, "/file"));
  const Tools tools =
      tools_of({{.tools = {"read"}, .action = Action::allow, .arguments = {{.pointer = "/fiel", .position = {7, 9}}}}});
  const auto idle = policy::idle_conditions(tools, snapshot);
  REQUIRE(idle.size() == 1);
  CHECK(idle.front().pointer == "/fiel");
  CHECK(idle.front().position.line == 7);
}

TEST_CASE("limits hold wherever their rule stands, for the calls that it selects") {
  const Tools tools = tools_of({{.tools = {"t"}, .action = Action::allow, .calls_in_flight = 2},
                                {.tools = {"t"}, .when = {mode("delete")}, .calls_per_minute = 1},
                                {.tools = {"*"}, .calls_per_minute = 9},
                                {.tools = {"*"}, .action = Action::block, .calls_per_minute = 5}});
  CHECK(judge(tools, R"({"mode":"list"})").limits == std::vector<std::size_t>{0, 2});
  CHECK(judge(tools, R"({"mode":"delete"})").limits == std::vector<std::size_t>{0, 1, 2});
}
