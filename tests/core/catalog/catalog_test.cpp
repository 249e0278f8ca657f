// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/catalog.hpp"

#include <doctest/doctest.h>

#include "make.hpp"

namespace cordon::catalog {
namespace {

Result<Tool> read(std::string_view text, Leniency leniency = Leniency::served) {
  const Result<json::Document> document = json::read(std::string(text), {});
  REQUIRE_MESSAGE(document.has_value(), text);
  return read_tool(document->root(), leniency);
}

TEST_CASE("a tool is kept whole and canonical, unknown members included") {
  const Result<Tool> tool = read(R"({ "name":"t", "zz":[1.0,1e400], "inputSchema":{"type":"object"}, "A":null })");
  REQUIRE(tool.has_value());
  CHECK(tool->name == "t");
  CHECK(tool->definition == R"({"A":null,"inputSchema":{"type":"object"},"name":"t","zz":[1.0,1e400]})");
}

TEST_CASE("what is no tool is refused") {
  for (const std::string_view text : {
           R"([])",
           R"("t")",
           R"({"inputSchema":{}})",
           R"({"name":7,"inputSchema":{}})",
           R"({"name":"","inputSchema":{}})",
           R"({"name":"a\u0000b","inputSchema":{}})",
           R"({"name":"a\ud800","inputSchema":{}})",
           R"({"name":"t"})",
           R"({"name":"t","inputSchema":true})",
           R"({"name":"t","inputSchema":[]})",
           R"({"name":"t","inputSchema":null})",
       }) {
    CAPTURE(text);
    const Result<Tool> tool = read(text);
    REQUIRE_FALSE(tool.has_value());
    CHECK(tool.error().code == Errc::catalog_invalid);
    CHECK_FALSE(tool.error().detail.empty());
  }
}

TEST_CASE("a served name has at most 256 bytes") {
  const auto named = [](std::size_t size) { return R"({"inputSchema":{},"name":")" + std::string(size, 'n') + "\"}"; };
  CHECK(read(named(256)).has_value());
  CHECK_FALSE(read(named(257)).has_value());
  CHECK(read(named(257), Leniency::plain).has_value());
}

TEST_CASE("a member that is the protocol's own only after case folding is refused") {
  for (const std::string_view text : {
           R"({"name":"t","Name":"u","inputSchema":{}})",
           R"({"name":"t","inputSchema":{},"inputschema":{}})",
           R"({"name":"t","inputSchema":{},"de\u017fcription":"x"})",
           R"({"name":"t","inputSchema":{},"_Meta":{}})",
           R"({"name":"t","inputSchema":{},"annotations":{"readonlyHint":true}})",
           R"({"name":"t","inputSchema":{},"execution":{"ta\u017f\u212aSupport":"required"}})",
       }) {
    CAPTURE(text);
    const Result<Tool> tool = read(text);
    REQUIRE_FALSE(tool.has_value());
    CHECK(tool.error().where == "tool 't'");
    CHECK(read(text, Leniency::plain).has_value());
  }
  CHECK(read(R"({"name":"t","inputSchema":{"Name":1},"x":{"Name":1}})").has_value());
}

TEST_CASE("a plain tool needs only a name") {
  CHECK(read(R"({"name":"t"})", Leniency::plain).has_value());
  CHECK(read(R"({"name":"t","inputSchema":"none"})", Leniency::plain).has_value());
  CHECK_FALSE(read(R"({"name":""})", Leniency::plain).has_value());
  CHECK_FALSE(read(R"({"title":"t"})", Leniency::plain).has_value());
}

TEST_CASE("a hostile name is shown escaped in errors") {
  const Result<Tool> tool = read(R"({"name":"\u001b[2J\u202eevil"})");
  REQUIRE_FALSE(tool.has_value());
  CHECK(tool.error().to_string().find('\x1b') == std::string::npos);
  CHECK(tool.error().where == "tool '\\x1b[2J\\u{202e}evil'");
}

TEST_CASE("a pinned tool is found by name") {
  const Snapshot snapshot = snapshot_of({R"({"name":"b"})", R"({"name":"a"})", R"({"name":"c"})"});
  REQUIRE(snapshot.find("b") != nullptr);
  CHECK(snapshot.find("b")->name == "b");
  CHECK(snapshot.find("") == nullptr);
  CHECK(snapshot.find("bb") == nullptr);
  CHECK(snapshot.find("d") == nullptr);
}

TEST_CASE("effect classes are ranked by how much they restrain") {
  CHECK(effect_rank("read") < effect_rank("write"));
  CHECK(effect_rank("write") < effect_rank("send"));
  CHECK(effect_rank("send") < effect_rank("destructive"));
  CHECK(effect_rank("destructive") < effect_rank("execute"));
  CHECK(effect_rank("execute") < effect_rank("unknown"));
  CHECK_FALSE(effect_rank("Read").has_value());
  CHECK(effect_source_from_name("reviewer") == EffectSource::reviewer);
  CHECK_FALSE(effect_source_from_name("").has_value());
}

}  // namespace
}  // namespace cordon::catalog
