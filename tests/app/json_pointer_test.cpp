// SPDX-License-Identifier: Apache-2.0
#include "app/json_pointer.hpp"

#include <doctest/doctest.h>

using namespace cordon;
using app::with_value_at;

TEST_CASE("a place of an object is set, and what is missing on the way is made") {
  CHECK(*with_value_at("{}", "/path", "1") == R"({"path":1})");
  CHECK(*with_value_at(R"({"path":"old","b":[1]})", "/path", R"("new")") == R"({"path":"new","b":[1]})");
  CHECK(*with_value_at(R"({"a":1})", "/x/y", "2") == R"({"a":1,"x":{"y":2}})");
  CHECK(*with_value_at(R"({"l":[{"p":1},2]})", "/l/0/p", "3") == R"({"l":[{"p":3},2]})");
  CHECK(*with_value_at(R"({"l":[1]})", "/l/-", "2") == R"({"l":[1,2]})");
  CHECK(*with_value_at(R"({"l":[1]})", "/l/1", "2") == R"({"l":[1,2]})");
  CHECK(*with_value_at("{}", "/a~1b~0c", "1") == R"({"a/b~c":1})");
  CHECK(*with_value_at("{}", "/", "1") == R"({"":1})");
}

TEST_CASE("what cannot be set is refused") {
  for (const auto& [object, pointer] :
       {std::pair("[]", "/a"), std::pair("{", "/a"), std::pair("{}", ""), std::pair("{}", "path"),
        std::pair("{}", "/a~2"), std::pair("{}", "/a~"), std::pair(R"({"a":1})", "/a/b"),
        std::pair(R"({"l":[1]})", "/l/2"), std::pair(R"({"l":[1]})", "/l/01"), std::pair(R"({"l":[1]})", "/l/x")}) {
    CAPTURE(object);
    CAPTURE(pointer);
    const auto made = with_value_at(object, pointer, "1");
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == Errc::policy_invalid);
  }
}
