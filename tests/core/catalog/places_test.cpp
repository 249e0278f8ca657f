// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/places.hpp"

#include <doctest/doctest.h>

#include "core/catalog/compare.hpp"
#include "make.hpp"

namespace cordon::catalog {
namespace {

Places places(std::string_view before, std::string_view after) {
  return tool_places(comparison_form(canonical(before)), comparison_form(canonical(after)));
}

// One line per place: pointer, before, after, severity.
std::string lines(const Places& places) {
  std::string out;
  for (const Place& place : places.list) {
    out += place.pointer + (place.element ? " element " : " ") + (place.before.empty() ? "-" : place.before) + " > " +
           (place.after.empty() ? "-" : place.after) + " " + std::string(name(place.severity)) + "\n";
  }
  return out;
}

std::string told(std::string_view before, std::string_view after) { return lines(places(before, after)); }

std::string told_schema(std::string_view before, std::string_view after) {
  return told(with_schema(before), with_schema(after));
}

TEST_CASE("a place is the smallest value that differs") {
  CHECK(told(R"({"name":"t","description":"a","inputSchema":{"properties":{"p":{"type":"string"}}}})",
             R"({"name":"t","description":"b","inputSchema":{"properties":{"p":{"type":"number"}}}})") ==
        "/description \"a\" > \"b\" medium\n/inputSchema/properties/p/type \"string\" > \"number\" medium\n");
  CHECK(told_schema(R"({"properties":{}})", R"({"properties":{"a/b~c":{"type":"string"}}})") ==
        "/inputSchema/properties/a~1b~0c - > {\"type\":\"string\"} medium\n");
  CHECK(told(R"({"name":"t","x":1})", R"({"name":"t","x":[]})") == "/x 1 > [] medium\n");
}

TEST_CASE("lists without order show what came and went") {
  CHECK(told_schema(R"({"required":["a","b","d"]})", R"({"required":["d","c","a"]})") ==
        "/inputSchema/required element \"b\" > - medium\n/inputSchema/required element - > \"c\" medium\n");
  CHECK(told_schema(R"({"enum":[1,1,2]})", R"({"enum":[2,1]})") == "/inputSchema/enum element 1 > - medium\n");
}

TEST_CASE("lists with order are compared between their equal ends") {
  CHECK(told_schema(R"({"anyOf":[{"const":1},{"const":3}]})", R"({"anyOf":[{"const":1},{"const":2},{"const":3}]})") ==
        "/inputSchema/anyOf/1 - > {\"const\":2} medium\n");
  CHECK(told_schema(R"({"anyOf":[{"const":1},{"const":2},{"const":3}]})",
                    R"({"anyOf":[{"const":1},{"const":9},{"const":3}]})") ==
        "/inputSchema/anyOf/1/const 2 > 9 medium\n");
  CHECK(told(R"({"x":[1,2,1,2]})", R"({"x":[1,2]})") == "/x/2 1 > - medium\n/x/3 2 > - medium\n");
  CHECK(told(R"({"x":[1,1]})", R"({"x":[1,1,1]})") == "/x/2 - > 1 medium\n");
}

TEST_CASE("each hint is a place, and a new readOnlyHint weighs most") {
  CHECK(told(R"({"name":"t"})", R"({"name":"t","annotations":{"readOnlyHint":true,"title":"T"}})") ==
        "/annotations/readOnlyHint - > true high\n/annotations/title - > \"T\" low\n");
  CHECK(told(R"({"annotations":{"readOnlyHint":false}})", R"({"annotations":{"readOnlyHint":true}})") ==
        "/annotations/readOnlyHint false > true high\n");
  CHECK(told(R"({"annotations":{"readOnlyHint":true}})", "{}") == "/annotations/readOnlyHint true > - medium\n");
  CHECK(told(R"({"annotations":null})", R"({"annotations":{"readOnlyHint":true}})") ==
        "/annotations null > {\"readOnlyHint\":true} high\n");
  CHECK(told(R"({"annotations":{"destructiveHint":true}})", R"({"annotations":{"destructiveHint":false}})") ==
        "/annotations/destructiveHint true > false medium\n");
}

TEST_CASE("what is form only is told as such") {
  CHECK(told(R"({"name":"t"})", R"({"name":"t","annotations":{"readOnlyHint":false},"execution":{}})") ==
        "/annotations/readOnlyHint - > false info\n/execution - > {} info\n");
  CHECK(told_schema(R"({"$schema":"http://json-schema.org/draft-07/schema#","required":[]})",
                    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":true})") ==
        "/inputSchema/$schema \"http://json-schema.org/draft-07/schema#\" > "
        "\"https://json-schema.org/draft/2020-12/schema\" info\n"
        "/inputSchema/additionalProperties - > true info\n/inputSchema/required [] > - info\n");
  CHECK(told_schema(R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[]})", R"({"items":[]})") ==
        "/inputSchema/$schema \"http://json-schema.org/draft-07/schema#\" > - medium\n");
}

TEST_CASE("severity follows the member of the tool") {
  CHECK(told(R"({"title":"a","outputSchema":{"type":"object"},"_meta":{"a":1},"icons":[]})",
             R"({"title":"b","outputSchema":{"type":"array"},"_meta":{"a":2},"icons":[1]})") ==
        "/_meta/a 1 > 2 medium\n/icons/0 - > 1 low\n/outputSchema/type \"object\" > \"array\" low\n"
        "/title \"a\" > \"b\" low\n");
}

TEST_CASE("many harmless places do not push out a bad one") {
  std::string before = R"({"annotations":{},"outputSchema":{"properties":{)";
  std::string after = R"({"annotations":{"readOnlyHint":true},"outputSchema":{"properties":{)";
  for (int i = 0; i < 500; ++i) {
    const std::string key = (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":";
    before += key + "1";
    after += key + "2";
  }
  const Places found = places(before + "}}}", after + "}}}");
  CHECK(found.list.size() == kMaxPlaces);
  CHECK(found.omitted == 501 - kMaxPlaces);
  CHECK(found.worst == Severity::high);
  CHECK(found.list.front().pointer == "/annotations/readOnlyHint");
}

TEST_CASE("a member with an absurdly long name is told at the object around it") {
  const std::string key(5000, 'k');
  const Places found = places(R"({"inputSchema":{"properties":{")" + key + R"(":1,"b":1}}})",
                              R"({"inputSchema":{"properties":{")" + key + R"(":2,"b":2}}})");
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].pointer == "/inputSchema/properties");
  CHECK(found.worst == Severity::high);
  CHECK(found.list[0].after.find(key) != std::string::npos);
}

TEST_CASE("text that cannot be read is one place") {
  const Places found = tool_places("{broken", "{}");
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].before == "{broken");
  CHECK(found.worst == Severity::high);
  CHECK(tool_places("{broken", "{broken").list.empty());
}

}  // namespace
}  // namespace cordon::catalog
