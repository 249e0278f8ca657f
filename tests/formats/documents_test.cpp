// SPDX-License-Identifier: Apache-2.0
// The examples of the format documents are what this program reads and writes.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/catalog/cues.hpp"
#include "formats/reports/effects.hpp"
#include "formats/reports/report.hpp"
#include "formats/snapshot.hpp"

namespace cordon::formats {
namespace {

std::string document(const std::string& name) {
  std::ifstream file(CORDON_DOCS_DIR "/formats/" + name);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

// What stands in the fenced block with the given words after its fence.
std::string block(const std::string& text, const std::string& words) {
  const std::string fence = "```" + words + "\n";
  const std::size_t begin = text.find(fence);
  REQUIRE_MESSAGE(begin != std::string::npos, words);
  const std::size_t end = text.find("```\n", begin + fence.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin + fence.size(), end - begin - fence.size());
}

std::string without_line_end(std::string text) {
  REQUIRE(text.ends_with('\n'));
  text.pop_back();
  return text;
}

TEST_CASE("the example of snapshot.md reads, and writes as it stands there") {
  const std::string text = document("snapshot.md");
  const Result<catalog::Snapshot> snapshot = read_snapshot(block(text, "json snapshot"), "snapshot.md");
  REQUIRE_MESSAGE(snapshot.has_value(), snapshot.error().to_string());
  CHECK(write_snapshot(*snapshot) == block(text, "json snapshot"));
  const std::string tool = without_line_end(block(text, "json tool"));
  CHECK(catalog::comparison_form(snapshot->tools.at(0).definition) == tool);
  CHECK(snapshot->tools.at(0).digest == sha256_text(tool));
  CHECK(snapshot->digest == sha256_text(without_line_end(block(text, "json catalog"))));
}

TEST_CASE("the example of diff.md is the diff of its two lists") {
  const std::string text = document("diff.md");
  const Result<catalog::Snapshot> before = read_any_catalog(block(text, "json before"), "before");
  const Result<catalog::Snapshot> after = read_any_catalog(block(text, "json after"), "after");
  REQUIRE(before.has_value());
  REQUIRE(after.has_value());
  CHECK(find_report("json")->render(catalog::diff(*before, *after), {}) == block(text, "json diff"));
}

TEST_CASE("the example of effects.md is what is proposed for its list") {
  const std::string text = document("effects.md");
  const Result<catalog::Snapshot> catalog = read_any_catalog(block(text, "json tools"), "tools");
  REQUIRE(catalog.has_value());
  std::vector<NamedProposal> proposals;
  for (const catalog::PinnedTool& tool : catalog->tools) {
    proposals.push_back({tool.name, catalog::propose_effect(tool.definition)});
  }
  CHECK(effects_json(proposals) == block(text, "json effects"));
}

TEST_CASE("diff.md lists every word and every cue with its severity") {
  const std::string text = document("diff.md");
  for (const catalog::WhatFacts& row : catalog::what_table()) {
    const std::string line = text::cat("| `", row.name, "` | ", catalog::name(row.severity), " | ", row.phrase, " |\n");
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
  for (const catalog::CueFacts& row : catalog::cue_table()) {
    const std::string line = text::cat("| `", row.name, "` | ", catalog::name(row.least), " | ", row.phrase, " |\n");
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
}

}  // namespace
}  // namespace cordon::formats
