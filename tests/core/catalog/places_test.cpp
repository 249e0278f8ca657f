// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/places.hpp"

#include <doctest/doctest.h>

#include "make.hpp"

namespace cordon::catalog {
namespace {

Places places(std::string_view before, std::string_view after) {
  return data_places(canonical(before), canonical(after));
}

// One line per place: pointer, before, after.
std::string told(std::string_view before, std::string_view after) {
  std::string out;
  for (const Place& place : places(before, after).list) {
    out += place.pointer + " " + (place.before.empty() ? "-" : place.before) + " > " +
           (place.after.empty() ? "-" : place.after) + "\n";
  }
  return out;
}

TEST_CASE("a place is the smallest value that differs") {
  CHECK(told(R"({"a":{"b":1,"c":"x"},"d":2})", R"({"a":{"b":1,"c":"y"},"d":3})") == "/a/c \"x\" > \"y\"\n/d 2 > 3\n");
  CHECK(told(R"({"p":{}})", R"({"p":{"a/b~c":{"type":"string"}}})") == "/p/a~1b~0c - > {\"type\":\"string\"}\n");
  CHECK(told(R"({"x":1})", R"({"x":[]})") == "/x 1 > []\n");
  CHECK(told("1", "2") == " 1 > 2\n");
  CHECK(told(R"({"x":1})", R"({"x":1})").empty());
}

TEST_CASE("lists are compared between their equal ends") {
  CHECK(told(R"({"x":[{"a":1},{"a":3}]})", R"({"x":[{"a":1},{"a":2},{"a":3}]})") == "/x/1 - > {\"a\":2}\n");
  CHECK(told(R"({"x":[{"a":1},{"a":2}]})", R"({"x":[{"a":1},{"a":9}]})") == "/x/1/a 2 > 9\n");
  CHECK(told(R"({"x":[1,2,1,2]})", R"({"x":[1,2]})") == "/x/2 1 > -\n/x/3 2 > -\n");
  CHECK(told(R"({"x":[1,1]})", R"({"x":[1,1,1]})") == "/x/2 - > 1\n");
}

TEST_CASE("there is a bound, and what lies beyond is counted") {
  std::string before = "{";
  std::string after = "{";
  for (int i = 0; i < 500; ++i) {
    const std::string key = (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":";
    before += key + "1";
    after += key + "2";
  }
  const Places found = places(before + "}", after + "}");
  CHECK(found.list.size() == kMaxPlaces);
  CHECK(found.omitted == 500 - kMaxPlaces);
}

TEST_CASE("a member with an absurdly long name is told at the object around it") {
  const std::string key(5000, 'k');
  const Places found = places(R"({"p":{")" + key + R"(":1,"b":1}})", R"({"p":{")" + key + R"(":2,"b":2}})");
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].pointer == "/p");
  CHECK(found.list[0].after.find(key) != std::string::npos);
}

TEST_CASE("text that cannot be read is one place") {
  const Places found = data_places("{broken", "{}");
  REQUIRE(found.list.size() == 1);
  CHECK(found.list[0].before == "{broken");
  CHECK(data_places("{broken", "{broken").list.empty());
}

}  // namespace
}  // namespace cordon::catalog
