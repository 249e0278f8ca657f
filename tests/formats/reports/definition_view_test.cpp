// SPDX-License-Identifier: Apache-2.0
#include "formats/reports/definition_view.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/json/read.hpp"
#include "formats/reports/words.hpp"
#include "hostile.hpp"

namespace cordon::formats {
namespace {

std::string shown(std::string_view definition, std::size_t width = 80) {
  Paper paper(false, width);
  REQUIRE(write_definition(paper, definition, "  + ", Tone::plain));
  return paper.take();
}

TEST_CASE("parameters are a list: name, type, need, what else holds, text") {
  CHECK(
      shown(
          R"({"annotations":{"readOnlyHint":true},"description":"Reads a file.\nSlowly.","inputSchema":{)"
          R"("additionalProperties":false,"properties":{)"
          R"("filter":{"properties":{"size":{"minimum":1,"type":["integer","null"]}},"required":["size"],"type":"object"},)"
          R"("kind":{"anyOf":[{"type":"string"},{"items":{"enum":["a","b"]},"type":"array"}]},)"
          R"("path":{"description":"Where it lies.","type":"string"}},"required":["path","other"],"type":"object"},)"
          R"("name":"read_file","x":"word"})") ==
      "  + annotations: {\"readOnlyHint\":true}\n"
      "  + description:\n"
      "  +   | Reads a file.\n"
      "  +   | Slowly.\n"
      "  + parameters: additionalProperties false, required [\"path\",\"other\"]\n"
      "  +   filter: object, optional\n"
      "  +     size: integer or null, required, minimum 1\n"
      "  +   kind: optional\n"
      "  +     any of (1): string\n"
      "  +     any of (2): array\n"
      "  +       each element: enum [\"a\",\"b\"]\n"
      "  +   path: string, required\n"
      "  +     | Where it lies.\n"
      "  + x: \"word\"\n");
  CHECK(shown(R"({"inputSchema":{"type":"object"},"name":"n"})") == "  + parameters: none\n");
}

TEST_CASE("what is no object is left to others") {
  Paper paper(false, 80);
  CHECK_FALSE(write_definition(paper, "\"text\"", "  + ", Tone::plain));
  CHECK_FALSE(write_definition(paper, "", "  + ", Tone::plain));
  CHECK(paper.take().empty());
}

bool has_structure(std::string_view key) {
  constexpr std::array<std::string_view, 8> kKeys = {"items",    "inputSchema", "properties", "type",
                                                     "required", "$defs",       "oneOf",      "description"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// Every name and every value of `value` stands in `text`.
void check_all(const json::Value& value, const std::string& text) {
  for (const json::Member member : value.members()) {
    const std::string key = member.key.string();
    CAPTURE(key);
    CHECK((has_structure(key) || text.contains(printable_whole(key)) ||
           text.contains(printable_whole(readable_token(key)))));
    check_all(member.value, text);
  }
  for (const json::Value element : value.elements()) {
    check_all(element, text);
  }
  if (value.is(json::Kind::string)) {
    bool found = text.contains(printable_json(value.raw()));
    if (!found) {
      for (const std::string_view line : text::split(value.string(), '\n')) {
        CHECK(text.contains(printable_whole(line)));
      }
    }
  } else if (!value.is(json::Kind::object) && !value.is(json::Kind::array)) {
    CHECK(text.contains(value.raw()));
  }
}

TEST_CASE("nothing of a hostile definition is left out, and none of its lines poses as ours") {
  for (const std::string_view text : kHostileTexts) {
    const std::string name = json::quoted("n" + std::string(text));
    const std::string prose = json::quoted("some words " + std::string(text) + " and more");
    const std::string definition =
        text::cat("{", name, ":", prose, R"(,"inputSchema":{"type":)", name, R"(,"properties":{)", name,
                  R"(:{"description":)", prose, R"(,"default":)", prose, R"(,"enum":[)", name,
                  R"(],"items":{"oneOf":[{"const":)", prose, R"(},17,true]}},"b":7},"required":[)", name,
                  R"(,"gone"],"$defs":{)", name, R"(:{"type":[)", name, R"(,null]}}},"description":)", prose, "}");
    for (const std::size_t width : {40UL, 80UL, 1'000'000UL}) {
      const std::string view = shown(definition, width);
      check_no_raw_characters(view);
      for (const std::string_view line : text::split(view, '\n')) {
        CHECK((line.empty() || line.starts_with("  + ")));
        CHECK(line.size() <= 2 * width);
      }
    }
    check_all(json::read(definition, {.max_bytes = definition.size()})->root(), shown(definition, 1'000'000));
  }
}

TEST_CASE("pointers for people are decoded, and cannot be mistaken") {
  CHECK(readable_pointer("") == "");
  CHECK(readable_pointer("/inputSchema/properties/a_b/0") == "/inputSchema/properties/a_b/0");
  CHECK(readable_pointer("/files/~1srv~1a~0b.js") == "/files/\"/srv/a~b.js\"");
  CHECK(readable_pointer("/a~1\"b\\") == "/\"a/\\\"b\\\\\"");
  CHECK(readable_pointer("/") == "/\"\"");
  CHECK(readable_pointer("/a b") == "/\"a b\"");
}

}  // namespace
}  // namespace cordon::formats
