// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/effects.hpp"

#include <doctest/doctest.h>

#include <array>

#include "base/text.hpp"

namespace cordon::catalog {
namespace {

std::string_view effect_of(std::string_view definition) { return propose_effect(definition).effect; }

std::string named(std::string_view name, std::string_view rest = "") {
  return text::cat(R"({"name":")", name, R"(")", rest, "}");
}

std::string with_arguments(std::string_view name, std::string_view properties) {
  return named(name, text::cat(R"(,"inputSchema":{"type":"object","properties":{)", properties, "}}"));
}

TEST_CASE("the verb of a name, in any spelling") {
  CHECK(effect_of(named("list_files")) == "read");
  CHECK(effect_of(named("github-createIssue")) == "write");
  CHECK(effect_of(named("db.deleteRow")) == "destructive");
  CHECK(effect_of(named("SendMail")) == "send");
  CHECK(effect_of(named("run_code")) == "execute");
  CHECK(effect_of(named("get_release")) == "read");
  CHECK(effect_of(named("list_and_delete")) == "destructive");
}

TEST_CASE("what nothing is said about stays unknown") {
  CHECK(effect_of(named("thing")) == "unknown");
  CHECK(effect_of("{}") == "unknown");
  CHECK(effect_of("no json") == "unknown");
  CHECK(effect_of(R"({"name":1,"description":[],"inputSchema":7})") == "unknown");
  CHECK(effect_of(named("thing", R"(,"annotations":{"readOnlyHint":true})")) == "unknown");
}

TEST_CASE("the worse of name and description counts") {
  CHECK(effect_of(named("thing", R"(,"description":"Returns the weather.")")) == "read");
  CHECK(effect_of(named("get_thing", R"(,"description":"Deletes the thing.")")) == "destructive");
  CHECK(effect_of(named("get_thing", R"(,"description":"Returns it. It also saves a copy.")")) == "write");
  CHECK(effect_of(named("get_thing", R"(,"description":"Returns it. It does not modify or delete anything.")")) ==
        "read");
}

TEST_CASE("a verb that is joined to the first one counts, a noun does not") {
  CHECK(effect_of(named("find_or_create_user")) == "write");
  CHECK(effect_of(named("getOrCreate")) == "write");
  CHECK(effect_of(named("lookup-then-pay")) == "send");
  CHECK(effect_of(named("search_text", R"(,"description":"Search and replace text in files.")")) == "write");
  CHECK(effect_of(named("thing", R"(,"description":"Reads or writes a file")")) == "write");
  CHECK(effect_of(named("thing", R"(,"description":"List, search and update the issues")")) == "write");
  CHECK(effect_of(named("get_commits", R"(,"description":"Get branches and commits.")")) == "read");
  CHECK(effect_of(named("thing", R"(,"description":"List tags and release notes. Fill in and submit nothing.")")) ==
        "read");
}

TEST_CASE("hints raise a class and never lower it") {
  CHECK(effect_of(named("get_x", R"(,"annotations":{"readOnlyHint":false})")) == "write");
  CHECK(effect_of(named("get_x", R"(,"annotations":{"destructiveHint":true})")) == "write");
  CHECK(effect_of(named("delete_x", R"(,"annotations":{"readOnlyHint":true})")) == "destructive");
  CHECK(effect_of(named("create_x", R"(,"annotations":{"readOnlyHint":true,"destructiveHint":false})")) == "write");
}

TEST_CASE("an operation among the arguments is proposed value by value") {
  const EffectProposal proposal =
      propose_effect(with_arguments("branch", R"("mode":{"type":"string","enum":["list","create","delete"]})"));
  CHECK(proposal.effect == "destructive");
  REQUIRE(proposal.when.size() == 3);
  CHECK(proposal.when[0].argument == "/mode");
  CHECK(proposal.when[0].value == "list");
  CHECK(proposal.when[0].effect == "read");
  CHECK(proposal.when[2].value == "delete");
  CHECK(proposal.when[2].effect == "destructive");
  CHECK(effect_of(with_arguments("get_route", R"("mode":{"enum":["driving","walking"]})")) == "read");
  CHECK(effect_of(with_arguments("get_x", R"("action":{"type":"string"})")) == "write");
}

TEST_CASE("arguments that name a file to write, code, or an address") {
  const EffectProposal shot = propose_effect(with_arguments(
      "take_screenshot", R"("options":{"properties":{"filename":{"type":"string","description":"File to save to"}}})"));
  CHECK(shot.effect == "write");
  REQUIRE(shot.when.size() == 1);
  CHECK(shot.when[0].argument == "/options/filename");
  CHECK_FALSE(shot.when[0].value.has_value());
  CHECK(effect_of(with_arguments("read_file", R"("path":{"description":"The file to read"})")) == "read");
  CHECK(effect_of(with_arguments("get_x", R"("savePath":{})")) == "write");
  CHECK(effect_of(with_arguments("query", R"("sql":{"type":"string"})")) == "execute");
  CHECK(effect_of(with_arguments("query", R"("query":{"description":"The SQL to run"})")) == "execute");
  CHECK(effect_of(with_arguments("search", R"("query":{"description":"What to look for"})")) == "read");
  CHECK(effect_of(with_arguments("aggregate", R"("pipeline":{"type":"array"})")) == "execute");
  CHECK(effect_of(with_arguments("get_country", R"("code":{"description":"ISO country code"})")) == "read");
  CHECK(effect_of(with_arguments("get_page", R"("url":{"type":"string"})")) == "send");
  CHECK(effect_of(with_arguments("update_x", R"("force":{"type":"boolean"})")) == "destructive");
}

TEST_CASE("tools that hide other tools are named as such") {
  const EffectProposal router = propose_effect(with_arguments(
      "storage", R"("intent":{"type":"string"},"command":{"type":"string"},"parameters":{"type":"object"})"));
  CHECK(router.router);
  CHECK(router.effect == "execute");
  CHECK(propose_effect(with_arguments("x", R"("tool_name":{},"arguments":{})")).router);
  CHECK_FALSE(propose_effect(with_arguments("list_calls", R"("toolName":{})")).router);
}

TEST_CASE("a hostile schema costs no more than its size") {
  std::string values;
  for (int i = 0; i < 5'000; ++i) {
    values += text::cat(i == 0 ? "" : ",", "\"list", i, "_x\",\"list\"");
  }
  const EffectProposal proposal =
      propose_effect(with_arguments("x", text::cat(R"("mode":{"enum":[)", values, R"(,"delete"]})")));
  CHECK(proposal.when.size() <= 64);
  CHECK(proposal.effect == "destructive");
}

}  // namespace
}  // namespace cordon::catalog
