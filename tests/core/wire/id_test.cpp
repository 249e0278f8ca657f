// SPDX-License-Identifier: Apache-2.0
#include "core/wire/id.hpp"

#include <doctest/doctest.h>

#include "core/json/read.hpp"

using cordon::wire::Id;
using cordon::wire::read_id;

namespace {

std::string shown(std::string text) {
  const auto document = cordon::json::read(std::move(text), {});
  REQUIRE(document);
  const auto id = read_id(document->root());
  return id ? id->json() : std::string(cordon::name(id.error().code));
}

}  // namespace

TEST_CASE("ids keep their type and value") {
  CHECK(shown("0") == "0");
  CHECK(shown("-5") == "-5");
  CHECK(shown("\"\"") == "\"\"");
  CHECK(shown("\"\\u0061\\n\"") == "\"a\\n\"");
  CHECK(Id(1) != Id("1"));
  CHECK(Id("a") == Id("a"));
}

TEST_CASE("ids that readers read differently are refused") {
  for (const char* text : {"1.0", "1e2", "-0", "9007199254740993", "\"\\ud800\"", "\"a\\u0000\""}) {
    CAPTURE(text);
    CHECK(shown(text) == "message_ambiguous");
  }
  for (const char* text : {"null", "true", "[]", "{}"}) {
    CAPTURE(text);
    CHECK(shown(text) == "message_malformed");
  }
  CHECK(shown('"' + std::string(5000, 'a') + '"') == "message_too_large");
}
