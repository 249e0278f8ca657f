// SPDX-License-Identifier: Apache-2.0
#include "core/wire/scan_id.hpp"

#include <doctest/doctest.h>

#include <string>

using cordon::wire::scan_id;

namespace {

std::string scanned(std::string_view line) {
  const auto found = scan_id(line);
  return (found.id ? found.id->json() : "none") + (found.has_method ? " method" : "");
}

}  // namespace

TEST_CASE("the top-level id is found wherever it stands") {
  CHECK(scanned(R"({"id":5,"method":"x","params":{"id":6}})") == "5 method");
  CHECK(scanned(R"({"params":{"id":6,"a":["}",{"id":7}]},"x":"\"id\":8","id":"nine"})") == "\"nine\"");
  CHECK(scanned(R"( { "result" : {} , "id" : 0 } )") == "0");
  CHECK(scanned(R"({"\u0069d":3})") == "3");
  CHECK(scanned(R"({"id":1,"a":tru)") == "1");
}

TEST_CASE("no id is made up") {
  for (const char* line : {"", "hello", "[{\"id\":1}]", R"({"a":{"id":1}})", R"({"id":1,"id":2})", R"({"id":null})",
                           R"({"id":{"id":1}})", R"({"id":1.5})", R"({"id":)", "{\"id\":\"abc", R"({"x" "id":1})"}) {
    CAPTURE(line);
    CHECK(scanned(line) == "none");
  }
}

TEST_CASE("an id that cannot be told is no missing id, and null is one") {
  CHECK(scan_id(R"({"id":1,"id":2})").unreadable_id);
  CHECK(scan_id(R"({"id":1.5})").unreadable_id);
  CHECK(!scan_id(R"({"id":1})").unreadable_id);
  CHECK(!scan_id(R"({"id":null})").unreadable_id);
  CHECK(!scan_id(R"({"a":1})").unreadable_id);
}
