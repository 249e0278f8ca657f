// SPDX-License-Identifier: Apache-2.0
// Changes between released versions of real servers (tests/data/releases), against what a simple reading of the raw
// lists expects of each: named, of the right kind, with the right words.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "make.hpp"

namespace cordon::catalog {
namespace {

json::Document steps() {
  std::ifstream file(CORDON_TEST_DATA "/releases/steps.json");
  REQUIRE(file.good());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto document = json::read(text, {.max_bytes = text.size()});
  REQUIRE(document.has_value());
  return std::move(*document);
}

Snapshot side(const json::Value& step, std::string_view member) {
  std::vector<std::string> tools;
  for (const json::Value tool : step.find("tools").elements()) {
    if (const json::Value definition = tool.find(member); definition.is(json::Kind::object)) {
      tools.emplace_back(definition.raw());
    }
  }
  return snapshot_of(tools);
}

bool has_word(const ItemChange& change, const std::string& word, const std::string& pointer) {
  return std::ranges::any_of(change.places, [&](const Place& place) {
    return name(place.what) == word && (pointer.empty() || place.pointer == pointer);
  });
}

void check_tool(const json::Value& expected, const std::vector<ItemChange>& changes) {
  const std::string tool = expected.find("name").string();
  const std::string kind = expected.find("kind").string();
  CAPTURE(tool);
  const auto change = std::ranges::find_if(changes, [&](const ItemChange& one) {
    return one.item == "tool" && (one.name == tool || (kind == "removed" && one.old_name == tool));
  });
  REQUIRE(change != changes.end());
  CHECK(
      (name(change->kind) == kind || (change->kind == ChangeKind::renamed && (kind == "added" || kind == "removed"))));
  for (const json::Value one : expected.find("words").elements()) {
    const std::string word = one.find("word").string();
    CAPTURE(word);
    CHECK(has_word(*change, word, one.find("pointer").string()));
  }
}

TEST_CASE("each change of a real release is named, with its kind and its words, and nothing else is") {
  const json::Document document = steps();
  std::size_t tools = 0;
  std::size_t words = 0;
  for (const json::Value step : document.root().find("steps").elements()) {
    CAPTURE(step.find("package").string());
    CAPTURE(step.find("to").string());
    const Snapshot before = side(step, "before");
    const Snapshot after = side(step, "after");
    CHECK(diff(before, before).changes.empty());
    const std::vector<ItemChange> changes = diff(before, after).changes;
    std::size_t of_tools = 0;
    for (const ItemChange& change : changes) {
      of_tools += change.item == "tool" ? (change.kind == ChangeKind::renamed ? 2U : 1U) : 0U;
    }
    CHECK(of_tools == step.find("tools").size());
    for (const json::Value tool : step.find("tools").elements()) {
      check_tool(tool, changes);
      ++tools;
      words += tool.find("words").size();
    }
  }
  CHECK(tools >= 20);
  CHECK(words >= 40);
}

}  // namespace
}  // namespace cordon::catalog
