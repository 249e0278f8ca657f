// SPDX-License-Identifier: Apache-2.0
#include "core/json/read.hpp"

#include <doctest/doctest.h>

#include <string>

using cordon::Errc;
using cordon::json::Limits;
using cordon::json::read;

namespace {

std::string verdict(std::string text, const Limits& limits = {}) {
  const auto document = read(std::move(text), limits);
  return document ? "ok" : std::string(cordon::name(document.error().code));
}

}  // namespace

TEST_CASE("values of every kind are read") {
  for (const char* text : {"null", "true", "false", "0", "-1", "1.5e+7", "\"\"", "[]", "{}", " [1, {\"a\": [ ]}]\t\r\n",
                           "{\"a\":{\"b\":[null,true,false,\"x\"]}}"}) {
    CAPTURE(text);
    CHECK(verdict(text) == "ok");
  }
}

TEST_CASE("what is not JSON is malformed") {
  for (const char* text : {"",
                           " ",
                           "tru",
                           "truex",
                           "tru e",
                           "nul",
                           "+1",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x10",
                           "NaN",
                           "Infinity",
                           "'a'",
                           "{a:1}",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\":1,}",
                           "{,}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "[",
                           "{",
                           "[1",
                           "{\"a\":1",
                           "\"abc",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\uZZZZ\"",
                           "1 2",
                           "{} {}",
                           "[]]",
                           "{}}",
                           "\xEF\xBB\xBF{}",
                           "\"\x01\"",
                           "\"a\nb\"",
                           "\"a\tb\"",
                           "// c\n1",
                           "[1]//",
                           "\"\\\"",
                           "-01"}) {
    CAPTURE(text);
    CHECK(verdict(text) == "message_malformed");
  }
  CHECK(verdict(std::string("\"a\0b\"", 5)) == "message_malformed");
  CHECK(verdict(std::string("1\0", 2)) == "message_malformed");
}

TEST_CASE("text that is not UTF-8 is malformed") {
  for (const char* text : {"\"\xFF\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xE2\x82\""}) {
    CAPTURE(text);
    CHECK(verdict(text) == "message_malformed");
  }
}

TEST_CASE("members named twice are ambiguous, at any depth and after unescaping") {
  for (const char* text : {R"({"a":1,"a":2})", R"({"x":[{"a":1,"b":2,"a":3}]})", R"({"m":1,"\u006d":2})",
                           R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"a":1})",
                           R"({"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"\u0061":1})", R"({"":1,"":2})",
                           R"({"\ud83d\ude00":1,"😀":2})"}) {
    CAPTURE(text);
    CHECK(verdict(text) == "message_ambiguous");
  }
  CHECK(verdict(R"({"a":{"a":{"a":1}},"A":1})") == "ok");
}

TEST_CASE("member names with a lone surrogate or U+0000 are ambiguous") {
  CHECK(verdict(R"({"\ud800":1})") == "message_ambiguous");
  CHECK(verdict(R"({"a\u0000":1})") == "message_ambiguous");
  CHECK(verdict(R"({"a":"\ud800\u0000"})") == "ok");
}

TEST_CASE("limits are on bytes and depth") {
  CHECK(verdict("[[[1]]]", {.max_bytes = 100, .max_depth = 3}) == "ok");
  CHECK(verdict("[[[[1]]]]", {.max_bytes = 100, .max_depth = 3}) == "message_too_large");
  CHECK(verdict("{\"a\":{\"a\":{\"a\":{}}}}", {.max_bytes = 100, .max_depth = 3}) == "message_too_large");
  CHECK(verdict("[1,2,3]", {.max_bytes = 7, .max_depth = 3}) == "ok");
  CHECK(verdict("[1,2,3] ", {.max_bytes = 7, .max_depth = 3}) == "message_too_large");
  CHECK(verdict(std::string(1'000'000, '[')) == "message_too_large");
}

TEST_CASE("an error says where") {
  const auto document = read("{\"a\":tru}", {});
  REQUIRE(!document);
  CHECK(document.error().where == "byte 5");
}

TEST_CASE("plain runs of any length and alignment end at the right byte") {
  for (std::size_t length = 0; length < 40; ++length) {
    for (const char* special : {"\"", "\\n\"", "\x1f\"", "\x7f\"", "é\"", "!\"", "[\"", "]\""}) {
      const std::string text = "\"" + std::string(length, 'a') + special;
      CAPTURE(text);
      CHECK(verdict(text) == (special[0] == '\x1f' ? "message_malformed" : "ok"));
    }
  }
}
