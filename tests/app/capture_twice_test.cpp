// SPDX-License-Identifier: Apache-2.0
#include "app/capture_twice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "app/capture_attempts.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

std::string parts(std::string_view before, std::string_view after) {
  const DifferingParts found = differing_parts(before, after);
  return std::string(found.before) + "|" + std::string(found.after);
}

}  // namespace

TEST_CASE("what differs is told by whole words") {
  CHECK(parts("Today is 2026-11-29.", "Today is 2026-11-30.") == "2026-11-29.|2026-11-30.");
  CHECK(parts("in /home/a/x now", "in /home/b/x now") == "/home/a/x|/home/b/x");
  CHECK(parts("9 files", "10 files") == "9|10");
  CHECK(parts("same", "same") == "same|same");
  CHECK(parts("a", "a b") == "a|a b");
  CHECK(parts("", "x") == "|x");
}

TEST_CASE("and by what it looks like") {
  CHECK(kind_of_text("2026-11-29.") == "a date");
  CHECK(kind_of_text("/home/a") == "a path");
  CHECK(kind_of_text("12") == "a number");
  CHECK(kind_of_text("v1.2.3") == "a version");
  CHECK(kind_of_text("1.2") == "a version");
  CHECK(kind_of_text("hello") == "text");
  CHECK(kind_of_text("") == "text");
}

TEST_CASE("what fits one variable of the policy is marked as its place") {
  policy::Policy policy;
  policy.catalog.variables = {{"today", {.kind = policy::Variable::Kind::date}},
                              {"count", {.kind = policy::Variable::Kind::integer}}};
  Twice twice;
  twice.candidate.tools = {
      {.name = "t", .definition = R"({"description":"On 2026-11-29 of x","inputSchema":{},"name":"t"})"}};
  twice.variations = {{"again",
                       {{.item = "tool",
                         .name = "t",
                         .places = {{"/description", "\"On 2026-11-29 of x\"", "\"On 2026-11-30 of x\""},
                                    {"/other", "\"1\"", "\"2\""}}}},
                       {}}};
  mark_unstable(policy, twice);
  CHECK(twice.candidate.variables ==
        std::vector<catalog::VariablePlace>{{"tool", "t", "/description", 3, 10, "today"}});
}

TEST_CASE("today's date is found in a text that did not differ, and marked as the only date of the policy") {
  const std::vector<std::string> days = spellings_of_day(1'796'000'000);
  CHECK(days.front() == "2026-11-30");
  CHECK(std::ranges::find(days, "Mon Nov 30 2026") != days.end());
  Twice twice;
  twice.candidate.tools = {
      {.name = "a", .definition = R"({"description":"As of 2026-11-30.","inputSchema":{},"name":"a"})"},
      {.name = "b", .definition = R"({"description":"Since 2026-11-29, 12026-11-30","inputSchema":{},"name":"b"})"}};
  policy::Policy policy;
  Twice bare = twice;
  mark_today(policy, days, bare);
  CHECK(bare.today == std::vector<std::string>{"tool a /description: 2026-11-30"});
  CHECK(bare.candidate.variables.empty());
  policy.catalog.variables = {{"day", {.kind = policy::Variable::Kind::date}},
                              {"n", {.kind = policy::Variable::Kind::integer}}};
  mark_today(policy, days, twice);
  CHECK(twice.candidate.variables == std::vector<catalog::VariablePlace>{{"tool", "a", "/description", 6, 10, "day"}});
  CHECK(describe(twice).find("today's date stands in tool a /description: 2026-11-30\n") != std::string::npos);
}

TEST_CASE("granted folders that the command names are tried at another place, with all that lies below") {
  const Caller caller;
  LoadedPolicy loaded;
  policy::Policy& policy = loaded.policy;
  policy.launch.command = {"/usr/bin/node", "/srv/app/index.js", "/data", "/data/sub", "/database", "--dir=/data"};
  policy.launch.cwd = "/data/work";
  policy.launch.set = {{"ROOT", "/data/x"}, {"OTHER", "/etc"}};
  policy.isolation.read = {{.path = "/outside", .at = "/data"}, {.path = "/srv/app"}};
  const auto moved = [&]() -> std::optional<Attempt> {
    for (Attempt& attempt : attempts({caller, loaded})) {
      if (attempt.label.starts_with("other places")) {
        return std::move(attempt);
      }
    }
    return std::nullopt;
  };
  const auto found = moved();
  REQUIRE(found.has_value());
  const std::string place = "/cordon-elsewhere/1/data";
  CHECK(found->loaded.policy.launch.command == std::vector<std::string>{"/usr/bin/node", "/srv/app/index.js", place,
                                                                        place + "/sub", "/database", "--dir=/data"});
  CHECK(found->loaded.policy.launch.cwd == place + "/work");
  CHECK(found->loaded.policy.launch.set ==
        std::map<std::string, std::string>{{"OTHER", "/etc"}, {"ROOT", place + "/x"}});
  CHECK(found->loaded.policy.isolation.read[0].at == place);
  CHECK(found->loaded.policy.isolation.read[1].at.empty());
  policy.isolation.read = {{.path = "/srv/app"}};
  CHECK_FALSE(moved().has_value());
  policy.launch.command = {"/srv/app/run", "/srv/app"};
  CHECK_FALSE(moved().has_value());
}

TEST_CASE("the description names each launch, and hostile text stays text") {
  Twice twice;
  twice.variations = {{"a second launch", {}, {}},
                      {"another HOME",
                       {{.item = "tool", .name = "t\x1b[31m", .places = {{"/description", "\"in /a\"", "\"in /b\""}}}},
                       {}},
                      {"another zone", {}, "it failed"}};
  CHECK_FALSE(twice.stable());
  CHECK(describe(twice) ==
        "a second launch: the same catalog\n"
        "another HOME: the catalog differs\n"
        "  tool t\\x1b[31m /description: a path: '/a' and '/b'\n"
        "  If it means nothing, name it in the policy: catalog: {variables: {NAME: KIND}}, and capture again\n"
        "another zone: no catalog: it failed\n");
  twice.variations.resize(1);
  CHECK(twice.stable());
}
