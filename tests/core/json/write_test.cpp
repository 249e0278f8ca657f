// SPDX-License-Identifier: Apache-2.0
#include "core/json/write.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/json/read.hpp"

using cordon::json::canonical;
using cordon::json::Escaping;
using cordon::json::pretty;
using cordon::json::quoted;
using cordon::json::read;
using cordon::json::Writer;

namespace {

std::string canonical_of(std::string text) {
  const auto document = read(std::move(text), {});
  REQUIRE(document);
  return canonical(document->root());
}

}  // namespace

TEST_CASE("the writer places commas and colons") {
  Writer w;
  w.begin_object().member("a", "x\"y").member_int("b", -3).key("c").begin_array().null().boolean(true).end_array();
  w.key("d").begin_object().end_object().member_raw("e", "[1]").member_bool("f", false).end_object();
  CHECK(w.take() == R"({"a":"x\"y","b":-3,"c":[null,true],"d":{},"e":[1],"f":false})");
}

TEST_CASE("canonical form sorts members by code point and keeps number spelling") {
  CHECK(canonical_of(R"({ "b" : 1.0, "a" : [ 1e400 , -0 ], "é":1, "Z":{"y":1,"x":2} })") ==
        R"({"Z":{"x":2,"y":1},"a":[1e400,-0],"b":1.0,"é":1})");
  CHECK(canonical_of(R"({"\uffff":1,"\ud800\udc00":2})") == "{\"\xEF\xBF\xBF\":1,\"\xF0\x90\x80\x80\":2}");
}

TEST_CASE("canonical form spells every string in one way") {
  CHECK(canonical_of(R"("\u0041\/\u000a\u001f\u00e9\ud83d")") == "\"A/\\n\\u001fé\\ud83d\"");
  CHECK(canonical_of(R"(["\ud83d\ude00","\udc00\ud83d"])") == "[\"😀\",\"\\udc00\\ud83d\"]");
}

TEST_CASE("reviewable escaping hides nothing") {
  CHECK(quoted("a\u202Eb\u200Bc é 漢 \x7f \u00a0", Escaping::reviewable) == R"("a\u202eb\u200bc é 漢 \u007f \u00a0")");
  CHECK(quoted("\U000E0041", Escaping::reviewable) == R"("\udb40\udc41")");
  CHECK(quoted("😀", Escaping::minimal) == "\"😀\"");
}

TEST_CASE("pretty text reads back as the same value") {
  const char* text = R"({"b":[1,{"a":"\u202e"},[],{}],"a":null})";
  const auto document = read(text, {});
  REQUIRE(document);
  const std::string shown = pretty(document->root(), Escaping::reviewable);
  CHECK(shown ==
        "{\n  \"b\": [\n    1,\n    {\n      \"a\": \"\\u202e\"\n    },\n    [],\n    {}\n  ],\n  \"a\": null\n}");
  CHECK(canonical_of(shown) == canonical_of(text));
}
