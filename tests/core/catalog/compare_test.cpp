// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/compare.hpp"

#include <doctest/doctest.h>

#include "base/hash.hpp"
#include "make.hpp"

namespace cordon::catalog {
namespace {

constexpr std::string_view kDraft07 = R"("$schema":"http://json-schema.org/draft-07/schema#")";
constexpr std::string_view k202012 = R"("$schema":"https://json-schema.org/draft/2020-12/schema")";

std::string with(std::string_view first, std::string_view rest) {
  return "{" + std::string(first) + "," + std::string(rest) + "}";
}

TEST_CASE("order of members, of required and of enum is no change") {
  CHECK(
      relation(
          R"({"name":"t","inputSchema":{"type":"object","required":["b","a"],"properties":{"a":{"enum":[2,"x",null]}}}})",
          R"({"inputSchema":{"properties":{"a":{"enum":[null,"x",2]}},"required":["a","b"],"type":"object"},"name":"t"})") ==
      Relation::equal);
  CHECK(schemas(R"({"anyOf":[{"not":{"required":["b","a"]}}]})", R"({"anyOf":[{"not":{"required":["a","b"]}}]})") ==
        Relation::equal);
  CHECK(schemas(R"({"$defs":{"x":{"items":[{"enum":["b","a"]}]}}})",
                R"({"$defs":{"x":{"items":[{"enum":["a","b"]}]}}})") == Relation::equal);
  CHECK(relation(R"({"name":"t","outputSchema":{"required":["b","a"]}})",
                 R"({"name":"t","outputSchema":{"required":["a","b"]}})") == Relation::equal);
}

TEST_CASE("order elsewhere is a change") {
  CHECK(schemas(R"({"anyOf":[{},true]})", R"({"anyOf":[true,{}]})") == Relation::changed);
  CHECK(schemas(R"({"type":["string","null"]})", R"({"type":["null","string"]})") == Relation::changed);
  CHECK(schemas(R"({"required":["b",1]})", R"({"required":[1,"b"]})") == Relation::changed);
  CHECK(relation(R"({"name":"t","_meta":{"required":["b","a"]}})", R"({"name":"t","_meta":{"required":["a","b"]}})") ==
        Relation::changed);
  CHECK(relation(R"({"name":"t","enum":["b","a"]})", R"({"name":"t","enum":["a","b"]})") == Relation::changed);
}

TEST_CASE("a property that is named required or enum is a schema, not the keyword") {
  CHECK(schemas(R"({"properties":{"enum":["b","a"]}})", R"({"properties":{"enum":["a","b"]}})") == Relation::changed);
  CHECK(schemas(R"({"properties":{"required":["b","a"]}})", R"({"properties":{"required":["a","b"]}})") ==
        Relation::changed);
  CHECK(schemas(R"({"properties":{"required":{"enum":["b","a"]}}})",
                R"({"properties":{"required":{"enum":["a","b"]}}})") == Relation::equal);
  CHECK(schemas(R"({"properties":{"required":[]}})", R"({"properties":{}})") == Relation::changed);
  CHECK(schemas(R"({"properties":{"additionalProperties":true}})", R"({"properties":{}})") == Relation::changed);
}

TEST_CASE("data inside a schema is not taken for keywords") {
  for (const std::string_view keyword : {"default", "const", "x-data", "format"}) {
    CAPTURE(keyword);
    const auto holding = [&](std::string_view data) {
      return "{\"" + std::string(keyword) + "\":" + std::string(data) + "}";
    };
    CHECK(schemas(holding(R"({"required":["b","a"]})"), holding(R"({"required":["a","b"]})")) == Relation::changed);
    CHECK(schemas(holding(R"({"required":[]})"), holding("{}")) == Relation::changed);
  }
  CHECK(schemas(R"({"enum":[{"enum":[2,1]}]})", R"({"enum":[{"enum":[1,2]}]})") == Relation::changed);
  CHECK(schemas(R"({"examples":[{"required":["b","a"]}]})", R"({"examples":[{"required":["a","b"]}]})") ==
        Relation::changed);
}

TEST_CASE("order counts where a reference may lead into the list") {
  CHECK(schemas(R"({"enum":[{"type":"string"},{}],"properties":{"a":{"$ref":"#/enum/0"}}})",
                R"({"enum":[{},{"type":"string"}],"properties":{"a":{"$ref":"#/enum/0"}}})") == Relation::changed);
  CHECK(schemas(R"({"enum":["b","a"],"properties":{"a":{"$ref":"#/%65num/0"}}})",
                R"({"enum":["a","b"],"properties":{"a":{"$ref":"#/%65num/0"}}})") == Relation::changed);
  CHECK(schemas(R"({"additionalProperties":true,"not":{"$ref":"#/additionalProperties"}})",
                R"({"not":{"$ref":"#/additionalProperties"}})") == Relation::changed);
  CHECK(schemas(R"({"enum":["b","a"],"items":{"$ref":"#/$defs/x"}})",
                R"({"enum":["a","b"],"items":{"$ref":"#/$defs/x"}})") == Relation::equal);
}

TEST_CASE("the spelling of a number is a change") {
  CHECK(schemas(R"({"default":1})", R"({"default":1.0})") == Relation::changed);
  CHECK(schemas(R"({"maximum":100})", R"({"maximum":1e2})") == Relation::changed);
}

TEST_CASE("the spelling of a string is none") {
  CHECK(relation(R"({"name":"t","description":"a\/\u0062"})", R"({"name":"t","description":"a/b"})") ==
        Relation::equal);
}

TEST_CASE("an empty required and a true additionalProperties are form only, at any depth") {
  CHECK(schemas(R"({"required":[]})", "{}") == Relation::cosmetic);
  CHECK(schemas(R"({"additionalProperties":true})", "{}") == Relation::cosmetic);
  CHECK(schemas(R"({"properties":{"a":{"items":{"required":[],"additionalProperties":true}}}})",
                R"({"properties":{"a":{"items":{}}}})") == Relation::cosmetic);
  CHECK(relation(R"({"name":"t","outputSchema":{"required":[]}})", R"({"name":"t","outputSchema":{}})") ==
        Relation::cosmetic);
  CHECK(schemas(R"({"required":["a"]})", "{}") == Relation::changed);
  CHECK(schemas(R"({"additionalProperties":false})", "{}") == Relation::changed);
  CHECK(schemas(R"({"additionalProperties":{}})", "{}") == Relation::changed);
  CHECK(schemas(R"({"additionalProperties":false})", R"({"additionalProperties":true})") == Relation::changed);
  CHECK(schemas(R"({"additionalProperties":true,"allOf":[{"unevaluatedProperties":false}]})",
                R"({"allOf":[{"unevaluatedProperties":false}]})") == Relation::changed);
  CHECK(schemas(R"({"required":false})", "{}") == Relation::changed);
}

TEST_CASE("a published dialect is form only where every keyword means the same under it") {
  for (const std::string_view body : {
           R"("type":"object","properties":{"a":{"type":"string","format":"uri","minLength":1}},"required":["a"])",
           R"("properties":{"n":{"type":"integer","exclusiveMinimum":0}},"additionalProperties":false)",
           R"("anyOf":[{"const":1},{"enum":[2]}],"if":{},"then":{},"x-order":1)",
           R"("properties":{"$ref":{"type":"string"},"$id":{"type":"string"}})",
           R"("items":{"type":"string"},"default":{"$ref":"#"},"propertyNames":true)",
       }) {
    CAPTURE(body);
    const std::string plain = "{" + std::string(body) + "}";
    CHECK(schemas(plain, with(kDraft07, body)) == Relation::cosmetic);
    CHECK(schemas(with(k202012, body), with(kDraft07, body)) == Relation::cosmetic);
    CHECK(schemas(with(k202012, body), plain) == Relation::cosmetic);
  }
}

TEST_CASE("a dialect under which a keyword means something else is a change") {
  for (const std::string_view body : {
           R"("items":[{"type":"string"}])",
           R"("dependencies":{"a":["b"]})",
           R"("$recursiveRef":"#")",
           R"("$dynamicRef":"#x")",
           R"("definitions":{"a":{}},"properties":{"a":{"$ref":"#/definitions/a"}})",
           R"("$defs":{"a":{}},"properties":{"a":{"$ref":"#/$defs/a"}})",
           R"("minimum":1,"exclusiveMinimum":true)",
           R"("additionalItems":false)",
           R"("prefixItems":[{}])",
           R"("unevaluatedProperties":false)",
           R"("dependentRequired":{"a":["b"]})",
           R"("minContains":2)",
           R"("contentEncoding":"base64")",
           R"("properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}})",
           R"("$id":"x")",
           R"("$anchor":"x")",
           R"("madeUp":1)",
           R"("required":true)",
       }) {
    CAPTURE(body);
    const std::string plain = "{" + std::string(body) + "}";
    CHECK(schemas(plain, with(kDraft07, body)) == Relation::changed);
    CHECK(schemas(with(k202012, body), with(kDraft07, body)) == Relation::changed);
  }
}

TEST_CASE("older drafts are form only for what they already knew") {
  const auto changes = [](std::string_view uri, std::string_view body) {
    return schemas(with("\"$schema\":\"" + std::string(uri) + "\"", body), "{" + std::string(body) + "}");
  };
  constexpr std::string_view kDraft04 = "http://json-schema.org/draft-04/schema#";
  constexpr std::string_view kDraft06 = "http://json-schema.org/draft-06/schema";
  CHECK(changes(kDraft04, R"("type":"object","properties":{"a":{"type":"number"}})") == Relation::cosmetic);
  CHECK(changes(kDraft04, R"("properties":{"a":{"type":"integer"}})") == Relation::changed);
  CHECK(changes(kDraft04, R"("properties":{"a":{"type":["null","integer"]}})") == Relation::changed);
  CHECK(changes(kDraft04, R"("properties":{"a":true})") == Relation::changed);
  CHECK(changes(kDraft04, R"("anyOf":[false])") == Relation::changed);
  CHECK(changes(kDraft04, R"("not":true)") == Relation::changed);
  CHECK(changes(kDraft04, R"("const":1)") == Relation::changed);
  CHECK(changes(kDraft04, R"("exclusiveMaximum":1)") == Relation::changed);
  CHECK(changes(kDraft06, R"("const":1,"properties":{"a":true})") == Relation::cosmetic);
  CHECK(changes(kDraft06, R"("if":{})") == Relation::changed);
}

TEST_CASE("a dialect that nobody published is a change") {
  for (const std::string_view uri :
       {"http://example.com/schema", "https://json-schema.org/draft-07/schema#", "http://json-schema.org/schema#",
        "http://json-schema.org/draft-03/schema#", "http://json-schema.org/draft-07/schema##", ""}) {
    CAPTURE(uri);
    CHECK(schemas(R"({"$schema":")" + std::string(uri) + R"("})", "{}") == Relation::changed);
  }
  CHECK(schemas(R"({"$schema":7})", "{}") == Relation::changed);
}

TEST_CASE("hints and execution at their protocol defaults are form only") {
  const auto tool = [](std::string_view rest) { return R"({"name":"t")" + std::string(rest) + "}"; };
  const std::string bare = tool("");
  CHECK(relation(bare, tool(R"(,"annotations":{})")) == Relation::cosmetic);
  CHECK(
      relation(
          bare,
          tool(
              R"(,"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true})")) ==
      Relation::cosmetic);
  CHECK(relation(tool(R"(,"annotations":{"title":"x"})"),
                 tool(R"(,"annotations":{"title":"x","openWorldHint":true})")) == Relation::cosmetic);
  CHECK(relation(bare, tool(R"(,"execution":{})")) == Relation::cosmetic);
  CHECK(relation(bare, tool(R"(,"execution":{"taskSupport":"forbidden"})")) == Relation::cosmetic);

  for (const std::string_view rest : {
           R"(,"annotations":{"readOnlyHint":true})",
           R"(,"annotations":{"destructiveHint":false})",
           R"(,"annotations":{"idempotentHint":true})",
           R"(,"annotations":{"openWorldHint":false})",
           R"(,"annotations":{"readOnlyHint":null})",
           R"(,"annotations":{"readOnlyHint":"false"})",
           R"(,"annotations":{"title":""})",
           R"(,"annotations":[])",
           R"(,"annotations":null)",
           R"(,"execution":{"taskSupport":"optional"})",
           R"(,"execution":{"x":1})",
           R"(,"execution":null)",
           R"(,"required":[])",
           R"(,"additionalProperties":true)",
           R"(,"_meta":{})",
       }) {
    CAPTURE(rest);
    CHECK(relation(bare, tool(rest)) == Relation::changed);
  }
}

TEST_CASE("forms of forms are the same forms, and stay canonical") {
  for (
      const std::string_view text : {
          R"({"name":"t","annotations":{"readOnlyHint":false},"execution":{},"inputSchema":{"required":[],"enum":[3,1]}})",
          R"({"name":"t","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"required":["b","a"]}]}})",
          R"({"name":"t","a\u001f":1,"inputSchema":{"properties":{"\u001b":{"additionalProperties":true}}}})",
          R"({})",
      }) {
    CAPTURE(text);
    const std::string comparison = comparison_form(canonical(text));
    const std::string cosmetic = cosmetic_form(canonical(text));
    CHECK(comparison_form(comparison) == comparison);
    CHECK(cosmetic_form(cosmetic) == cosmetic);
    CHECK(comparison_form(cosmetic) == cosmetic);
    CHECK(canonical(comparison) == comparison);
    CHECK(canonical(cosmetic) == cosmetic);
  }
}

TEST_CASE("text that is no object equals only itself") {
  CHECK(relate("[1]", "[1]") == Relation::equal);
  CHECK(relate("[1]", "[2]") == Relation::changed);
  CHECK(relate("{broken", "{brokem") == Relation::changed);
  CHECK(comparison_form("{broken") == "{broken");
}

TEST_CASE("deep nesting is compared without harm") {
  std::string deep = "{}";
  for (int i = 0; i < 120; ++i) {
    deep = R"({"not":)" + deep + "}";
  }
  std::string other = deep;
  other.replace(other.find("{}"), 2, R"({"required":[]})");
  CHECK(schemas(deep, other) == Relation::cosmetic);
}

// The example of docs/formats/snapshot.md; a reader that someone else writes must get the same.
TEST_CASE("the digest of the documented example") {
  const std::string definition = canonical(
      R"({"name": "read_file", "description": "Reads a file – as text.",
          "inputSchema": {"type": "object", "required": ["path", "mode"],
            "properties": {"path": {"type": "string"}, "mode": {"enum": ["text", "binary"], "default": "text"},
                           "limit": {"type": "number", "default": 1.0}}}})");
  const std::string form =
      R"({"description":"Reads a file – as text.","inputSchema":{"properties":{"limit":{"default":1.0,"type":"number"},)"
      R"("mode":{"default":"text","enum":["binary","text"]},"path":{"type":"string"}},)"
      R"("required":["mode","path"],"type":"object"},"name":"read_file"})";
  CHECK(comparison_form(definition) == form);
  CHECK(tool_digest(definition) == sha256_text(form));
  CHECK(tool_digest(definition) == "sha256:a41c6d06c8a2c70325e65daa1b2602e101da608d4f3de4856473d1b33aab31ce");
}

TEST_CASE("everything that a snapshot pins enters its digest") {
  const Snapshot base = snapshot_of({R"({"name":"a"})", R"({"name":"b"})"});
  const auto differs = [&](auto change) {
    Snapshot other = base;
    change(other);
    return snapshot_digest(other) != snapshot_digest(base);
  };
  CHECK(differs([](Snapshot& s) { s.tools[0].digest = "sha256:0"; }));
  CHECK(differs([](Snapshot& s) { s.tools[0].effect = "write"; }));
  CHECK(differs([](Snapshot& s) { s.tools[0].effect_source = EffectSource::proposed; }));
  CHECK(differs([](Snapshot& s) { s.tools.pop_back(); }));
  CHECK(differs([](Snapshot& s) { s.instructions = ""; }));
  CHECK(differs([](Snapshot& s) { s.server_info = R"({"name":"x"})"; }));
  CHECK(differs([](Snapshot& s) { s.capabilities = R"({"tools":{}})"; }));
  CHECK(differs([](Snapshot& s) { s.protocol_versions = {"2025-11-25"}; }));
  CHECK_FALSE(differs([](Snapshot& s) { s.reviewer = "someone else"; }));
}

TEST_CASE("the digest of a whole catalog, spelled out") {
  Snapshot snapshot = snapshot_of({R"({"name":"a"})"});
  snapshot.protocol_versions = {"2026-07-28", "2025-11-25"};
  snapshot.instructions = "Be \"brief\".";
  const std::string text =
      R"({"capabilities":{},"instructions":"Be \"brief\".","protocol_versions":["2025-11-25","2026-07-28"],)"
      R"("server_info":{},"tools":[{"digest":")" +
      sha256_text(R"({"name":"a"})") + R"(","effect":"read","effect_source":"reviewer","name":"a"}]})";
  CHECK(snapshot_digest(snapshot) == sha256_text(text));
  CHECK(canonical(text) == text);
}

}  // namespace
}  // namespace cordon::catalog
