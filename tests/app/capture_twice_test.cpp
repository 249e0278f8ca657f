// SPDX-License-Identifier: Apache-2.0
#include "app/capture_twice.hpp"

#include <doctest/doctest.h>

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
