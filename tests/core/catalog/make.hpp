// SPDX-License-Identifier: Apache-2.0
#pragma once
// Definitions and snapshots as literals, for the tests of this folder.

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/catalog/diff.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"

namespace cordon::catalog {

inline std::string canonical(std::string_view text) {
  const Result<json::Document> document = json::read(std::string(text), {});
  REQUIRE_MESSAGE(document.has_value(), text);
  return json::canonical(document->root());
}

inline Relation relation(std::string_view before, std::string_view after) {
  return relate(canonical(before), canonical(after));
}

// A tool `t` around an input schema.
inline std::string with_schema(std::string_view schema) {
  return canonical(std::string(R"({"name":"t","inputSchema":)") + std::string(schema) + "}");
}

inline Relation schemas(std::string_view before, std::string_view after) {
  return relate(with_schema(before), with_schema(after));
}

// A reviewed snapshot of tools given as JSON, each with the effect class `read` set by a reviewer.
inline Snapshot snapshot_of(const std::vector<std::string>& definitions) {
  Catalog live;
  for (const std::string& text : definitions) {
    const Result<json::Document> document = json::read(std::string(text), {});
    REQUIRE(document.has_value());
    Result<Tool> tool = read_tool(document->root(), Leniency::plain);
    REQUIRE(tool.has_value());
    live.tools.push_back(std::move(*tool));
  }
  Result<Snapshot> snapshot = as_candidate("demo", live, nullptr);
  REQUIRE(snapshot.has_value());
  snapshot->reviewed = true;
  for (PinnedTool& tool : snapshot->tools) {
    tool.effect = "read";
    tool.effect_source = EffectSource::reviewer;
  }
  seal(*snapshot);
  return std::move(*snapshot);
}

}  // namespace cordon::catalog
