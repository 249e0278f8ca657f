// SPDX-License-Identifier: Apache-2.0
#include "base/regex.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace cordon;

TEST_CASE("a pattern is matched against the whole text or any part of it") {
  const auto digits = Regex::compile("[0-9]+");
  REQUIRE(digits);
  CHECK(digits->full_match("123"));
  CHECK_FALSE(digits->full_match("a123"));
  CHECK_FALSE(digits->full_match("123\n"));
  CHECK(digits->partial_match("a123b"));
  CHECK_FALSE(digits->partial_match("abc"));
  CHECK(Regex::compile("a|ab")->full_match("ab"));
}

TEST_CASE("a text may hold NUL, other scripts and bytes that are no UTF-8") {
  using namespace std::string_view_literals;
  CHECK(Regex::compile("a.b")->full_match("a\0b"sv));
  CHECK(Regex::compile("^.$")->full_match("ä"));
  CHECK_FALSE(Regex::compile("^.$")->full_match("\xff"));
}

TEST_CASE("what cannot be matched in linear time is refused with a reason") {
  for (const char* pattern : {"(?=a)b", "(a)\\1", "(?<!a)b", "a{2000}", "(", "[z-a]", "(a{1000}){1000}"}) {
    CAPTURE(pattern);
    const auto compiled = Regex::compile(pattern);
    REQUIRE_FALSE(compiled);
    CHECK_FALSE(compiled.error().empty());
  }
  CHECK_FALSE(Regex::compile(std::string(10'001, 'a')));
  CHECK(Regex::compile("(\x1b").error().find('\x1b') == std::string::npos);
}

TEST_CASE("what makes other engines run for years is matched at once") {
  const auto nested = Regex::compile("^(a+)+$");
  REQUIRE(nested);
  CHECK_FALSE(nested->full_match(std::string(100'000, 'a') + "b"));
  const auto many = Regex::compile("(x+x+)+y");
  CHECK_FALSE(many->partial_match(std::string(100'000, 'x')));
}

TEST_CASE("an expression can be moved") {
  auto first = Regex::compile("a");
  Regex second = std::move(*first);
  CHECK(second.full_match("a"));
}
