// SPDX-License-Identifier: Apache-2.0
#include "core/json/value.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "core/json/read.hpp"

using cordon::json::Document;
using cordon::json::Kind;
using cordon::json::read;
using cordon::json::Value;

namespace {

Document document(std::string text) {
  auto result = read(std::move(text), {});
  REQUIRE(result);
  return std::move(*result);
}

}  // namespace

TEST_CASE("members and elements are found and counted") {
  const Document d = document(R"( {"a": [1, {"b":2}, "x"], "c": {}, "\u0064": true} )");
  const Value root = d.root();
  CHECK(root.size() == 3);
  CHECK(root.find("a").size() == 3);
  CHECK(root.find("a").at(1).find("b").number_text() == "2");
  CHECK(root.find("a").at(2).string() == "x");
  CHECK(!root.find("a").at(3));
  CHECK(root.find("c").size() == 0);
  CHECK(root.find("d").boolean());
  CHECK(!root.find("e"));
  CHECK(!root.find("a").find("b"));
  std::string keys;
  for (const auto member : root.members()) {
    keys += member.key.string();
  }
  CHECK(keys == "acd");
}

TEST_CASE("spelling is kept") {
  const Document d = document(R"({"n":123456789012345678901234567890.0e400,"s":"\u0041\/","o":{ "a" : 1 }})");
  CHECK(d.root().find("n").number_text() == "123456789012345678901234567890.0e400");
  CHECK(d.root().find("s").string() == "A/");
  CHECK(d.root().find("s").string_raw() == R"(\u0041\/)");
  CHECK(d.root().find("s").raw() == R"("\u0041\/")");
  CHECK(d.root().find("o").raw() == R"({ "a" : 1 })");
}

TEST_CASE("cursors survive a move of the document") {
  Document d = document(R"({"a":"b"})");
  const Value a = d.root().find("a");
  const Document moved = std::move(d);
  CHECK(a.string() == "b");
}

TEST_CASE("integers are safe only when every reader agrees on them") {
  const auto integer = [](const char* text) { return document(text).root().safe_integer(); };
  CHECK(integer("0") == 0);
  CHECK(integer("-7") == -7);
  CHECK(integer("9007199254740991") == 9007199254740991);
  for (const char* text :
       {"9007199254740992", "-9007199254740992", "1.0", "1e2", "-0", "99999999999999999999", "\"1\""}) {
    CAPTURE(text);
    CHECK(!integer(text));
  }
}

TEST_CASE("strings with odd characters are flagged") {
  const Document d = document(R"(["\ud83d","\udc00\ud800","\ud83d\ude00","a\u0000"])");
  CHECK(d.root().at(0).has_lone_surrogate());
  CHECK(d.root().at(1).has_lone_surrogate());
  CHECK(!d.root().at(2).has_lone_surrogate());
  CHECK(d.root().at(2).string() == "😀");
  CHECK(d.root().at(3).has_nul());
  CHECK(!d.root().at(2).has_nul());
}

TEST_CASE("the text comes back as it went in") {
  const std::string text = " [1 ,2]\t";
  Document d = document(text);
  CHECK(std::move(d).take_text() == text);
}
