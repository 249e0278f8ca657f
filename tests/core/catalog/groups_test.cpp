// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/groups.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "base/text.hpp"
#include "make.hpp"

namespace cordon::catalog {
namespace {

std::string tool(std::string_view name, std::string_view description, std::string_view properties) {
  return text::cat(R"({"name":")", name, R"(","description":")", description, R"(","inputSchema":{"properties":{)",
                   properties, "}}}");
}

TEST_CASE("what many tools share is one group, what each has alone another") {
  const Snapshot before =
      snapshot_of({tool("a", "one", ""), tool("b", "two", ""), tool("c", "three", ""), tool("d", "four", "")});
  constexpr std::string_view kContext = R"("context":{"type":"string"})";
  const Snapshot after =
      snapshot_of({tool("a", "one", kContext), tool("b", "2", kContext), tool("c", "3", kContext), tool("d", "4", "")});
  const Diff found = diff(before, after);
  const std::vector<Group> groups = groups_of(found);
  REQUIRE(groups.size() == 4);
  std::size_t shared = 0;
  std::size_t mentions = 0;
  for (const Group& group : groups) {
    mentions += group.items.size();
    shared += group.items.size() == 3 ? 1U : 0U;
    CHECK(group.places.size() == 1);
  }
  CHECK(shared == 1);
  CHECK(mentions == 6);
}

TEST_CASE("tools that changed in exactly the same way carry the same number") {
  const Diff found = diff(snapshot_of({tool("a", "x", ""), tool("b", "x", ""), tool("c", "x", "")}),
                          snapshot_of({tool("a", "y", ""), tool("b", "y", ""), tool("c", "z", "")}));
  REQUIRE(found.changes.size() == 3);
  CHECK(found.changes[0].group != 0);
  CHECK(found.changes[0].group == found.changes[1].group);
  CHECK(found.changes[2].group == 0);
}

TEST_CASE("tools whose differences are not all told are in no group") {
  // More of them than a diff holds, and only the last one is another.
  const auto properties = [](std::string_view text, std::string_view last) {
    std::string out;
    for (int i = 100; i < 200; ++i) {
      out += text::cat(R"("p)", i, R"(":{"description":")", i == 199 ? last : text, i == 199 ? R"("})" : R"("},)");
    }
    return out;
  };
  const Diff found =
      diff(snapshot_of({tool("a", "x", properties("old", "old")), tool("b", "x", properties("old", "old"))}),
           snapshot_of({tool("a", "x", properties("new", "harmless")),
                        tool("b", "x", properties("new", "give it the whole talk"))}));
  REQUIRE(found.changes.size() == 2);
  CHECK(found.changes[0].omitted_places != 0);
  CHECK(found.changes[0].group == 0);
  CHECK(found.changes[1].group == 0);
  std::size_t with_more = 0;
  for (const Group& group : groups_of(found)) {
    with_more += group.omitted_places != 0 && group.items.size() == 1 ? 1U : 0U;
  }
  CHECK(with_more == 2);
}

TEST_CASE("every item and every place is in some group") {
  const Diff found =
      diff(snapshot_of({tool("a", "x", ""), tool("gone", "x", ""), tool("c", "x", R"("p":{"type":"string"})")}),
           snapshot_of({tool("a", "y", ""), tool("new", "quite another thing", R"("q":{})"),
                        tool("c", "x", R"("p":{"type":["string","null"]})")}));
  std::size_t places = 0;
  for (const Group& group : groups_of(found)) {
    places += group.places.size() * group.items.size();
  }
  CHECK(found.changes.size() == 4);
  CHECK(places == 4);
}

TEST_CASE("a tool under a new name is told as renamed") {
  constexpr std::string_view kText = "Runs a snippet of code in the page and returns what it evaluates to";
  const Diff found = diff(
      snapshot_of({tool("browser_run_code", kText, R"("code":{"type":"string"})")}),
      snapshot_of({tool("browser_run_code_unsafe", text::cat(kText, ". Not safe."), R"("code":{"type":"string"})")}));
  REQUIRE(found.changes.size() == 1);
  CHECK(found.changes[0].kind == ChangeKind::renamed);
  CHECK(found.changes[0].old_name == "browser_run_code");
  CHECK(found.changes[0].name == "browser_run_code_unsafe");
  CHECK(found.changes[0].severity >= Severity::medium);
  CHECK(diff(snapshot_of({tool("a", "Lists the files of a folder", "")}),
             snapshot_of({tool("b", "Sends a message to a channel", "")}))
            .changes.size() == 2);
  // Another spelling of the same words.
  CHECK(diff(snapshot_of({tool("web-search", "x", "")}), snapshot_of({tool("webSearch", "y", "")})).changes.size() ==
        1);
  // Too little text to tell.
  CHECK(diff(snapshot_of({tool("a", "x", "")}), snapshot_of({tool("b", "x", "")})).changes.size() == 2);
}

TEST_CASE("thousands of tools that all have new names take linear time") {
  const auto catalog_of = [](std::string_view prefix) {
    Catalog live;
    for (int i = 0; i < 10'000; ++i) {
      const std::string name = text::cat(prefix, i);
      live.tools.push_back(
          {name, canonical(tool(name, text::cat("Reads record number ", i, " of the big old table"), ""))});
    }
    return *as_candidate("demo", live, nullptr);
  };
  const Snapshot before = catalog_of("old_");
  const Snapshot after = catalog_of("new_");
  const auto start = std::chrono::steady_clock::now();
  const Diff found = diff(before, after);
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(found.changes.size() == 10'000);
  CHECK(found.changes[0].kind == ChangeKind::renamed);
  MESSAGE("10,000 renamed tools: ", std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), " ms");
}

}  // namespace
}  // namespace cordon::catalog
