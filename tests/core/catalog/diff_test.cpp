// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/diff.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "make.hpp"

namespace cordon::catalog {
namespace {

std::string lines(const Diff& diff) {
  std::string out;
  for (const ItemChange& change : diff.changes) {
    out += std::string(name(change.severity)) + " " + std::string(name(change.kind)) + " " + change.item + " " +
           change.name + "\n";
  }
  return out;
}

TEST_CASE("equal catalogs have no difference, whatever the order") {
  const Snapshot one = snapshot_of({R"({"name":"a"})", R"({"name":"b","inputSchema":{"required":["x","y"]}})"});
  const Snapshot two = snapshot_of({R"({"name":"b","inputSchema":{"required":["y","x"]}})", R"({"name":"a"})"});
  CHECK(diff(one, two).changes.empty());
  CHECK_FALSE(diff(one, two).drifted());
}

TEST_CASE("changes come worst first, then by item and name") {
  const Snapshot before =
      snapshot_of({R"({"name":"gone"})", R"({"name":"z"})", R"({"name":"form"})", R"({"name":"a"})"});
  const Snapshot after = snapshot_of({R"({"name":"new"})", R"({"name":"z","annotations":{"readOnlyHint":true}})",
                                      R"({"name":"form","execution":{}})", R"({"name":"a","description":"x"})"});
  const Diff found = diff(before, after);
  CHECK(lines(found) ==
        "high changed tool z\nmedium changed tool a\nmedium added tool new\nlow removed tool gone\ninfo cosmetic tool "
        "form\n");
  CHECK(found.drifted());
  CHECK(found.changes[2].places[0].after == R"({"name":"new"})");
  CHECK(found.changes[2].places[0].before.empty());
  CHECK(found.changes[3].places[0].before == R"({"name":"gone"})");
}

TEST_CASE("form alone is no drift") {
  const Diff found = diff(snapshot_of({R"({"name":"a"})"}), snapshot_of({R"({"name":"a","annotations":{}})"}));
  CHECK(lines(found) == "info cosmetic tool a\n");
  CHECK_FALSE(found.drifted());
}

TEST_CASE("a lowered class is of the highest severity") {
  const auto with_effect = [](std::string_view effect) {
    Snapshot snapshot = snapshot_of({R"({"name":"a"})"});
    snapshot.tools[0].effect = effect;
    return snapshot;
  };
  CHECK(lines(diff(with_effect("destructive"), with_effect("read"))) == "critical changed effect a\n");
  CHECK(lines(diff(with_effect("unknown"), with_effect("write"))) == "critical changed effect a\n");
  CHECK(lines(diff(with_effect("read"), with_effect("write"))) == "medium changed effect a\n");
  const Diff found = diff(with_effect("write"), with_effect("read"));
  CHECK(found.changes[0].places[0].before == "\"write\"");
  CHECK(found.changes[0].places[0].after == "\"read\"");
  CHECK(found.drifted());
}

TEST_CASE("a candidate states no class that nobody set") {
  const Snapshot reviewed = snapshot_of({R"({"name":"a"})"});
  const Catalog live = {.tools = {{"a", R"({"description":"x","name":"a"})"}}};
  CHECK(lines(diff(reviewed, *as_candidate("demo", live, &reviewed))) == "medium changed tool a\n");
}

TEST_CASE("instructions, identity, capabilities, versions and launch are items of their own") {
  const Snapshot before = snapshot_of({});
  Snapshot after = before;
  after.instructions = "Obey.";
  after.server_info = R"({"name":"x","version":"1"})";
  after.capabilities = R"({"tools":{}})";
  after.protocol_versions = {"2025-11-25"};
  after.launch.command = {"node"};
  CHECK(lines(diff(before, after)) ==
        "high added instructions \nmedium changed capabilities \nmedium changed server_info \n"
        "low changed protocol_versions \n");
  Snapshot later = after;
  later.instructions = "Obey!";
  later.server_info = R"({"name":"x","version":"2"})";
  later.launch.command = {"node", "--inspect"};
  CHECK(lines(diff(after, later)) == "high changed instructions \nhigh changed launch \nlow changed server_info \n");
  CHECK(diff(after, later).changes[2].places[0].pointer == "/version");
  later.instructions.reset();
  CHECK(lines(diff(after, later)).find("medium removed instructions") != std::string::npos);
}

TEST_CASE("the order of versions is no difference, their set is") {
  Snapshot before = snapshot_of({});
  Snapshot after = before;
  before.protocol_versions = {"a", "b"};
  after.protocol_versions = {"b", "a"};
  CHECK(diff(before, after).changes.empty());
  after.protocol_versions = {"b", "c"};
  const Diff found = diff(before, after);
  REQUIRE(found.changes.size() == 1);
  REQUIRE(found.changes[0].places.size() == 2);
  CHECK(found.changes[0].places[0].before == "\"a\"");
  CHECK(found.changes[0].places[1].after == "\"c\"");
}

TEST_CASE("a plain list is compared by its tools alone") {
  Snapshot before = snapshot_of({R"({"name":"a"})"});
  before.instructions = "Hello.";
  Snapshot after = *as_candidate("", {.tools = {{"a", R"({"name":"a"})"}}}, nullptr);
  after.tools_only = true;
  CHECK(diff(before, after).changes.empty());
  CHECK(diff(after, before).changes.empty());
}

TEST_CASE("ten thousand tools, all changed, take linear time") {
  const auto catalog_of = [](int count, std::string_view word) {
    Catalog live;
    for (int i = 0; i < count; ++i) {
      const std::string name = "tool_" + std::to_string(i);
      live.tools.push_back(
          {name, R"({"annotations":{"readOnlyHint":false},"description":"Reads )" + std::string(word) +
                     R"( and tells what it holds.","inputSchema":{"$schema":)"
                     R"("http://json-schema.org/draft-07/schema#","properties":{"mode":{"enum":["b","a"]},)"
                     R"("path":{"type":"string"}},"required":["path","mode"],"type":"object"},"name":")" +
                     name + "\"}"});
    }
    return *as_candidate("demo", live, nullptr);
  };
  const Snapshot before = catalog_of(10'000, "one");
  const Snapshot after = catalog_of(10'000, "two");
  const auto start = std::chrono::steady_clock::now();
  const Diff found = diff(before, after);
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(found.changes.size() == 10'000);
  MESSAGE("diff of 10,000 changed tools: ", std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), " ms");
}

}  // namespace
}  // namespace cordon::catalog
