// SPDX-License-Identifier: Apache-2.0
#include "core/catalog/variables.hpp"

#include <doctest/doctest.h>

using namespace cordon::catalog;

namespace {

bool digits(const VariableRule&, std::string_view value) {
  return value.find_first_not_of("0123456789") == std::string_view::npos;
}
bool same(const VariableRule& rule, std::string_view value) { return rule.known == value; }

const VariableRules kRules = {{"n", {digits, {}, {}}}, {"home", {same, {}, "/new"}}};

std::string settled(const std::vector<VariablePlace>& places, std::string_view pinned, std::string_view live,
                    Shown shown = Shown::reviewed) {
  VariableReader reader(kRules, places, shown);
  return reader.settled("tool", "t", pinned, live);
}

constexpr const char* kPinned = R"({"a":["x 12 of 7 y"],"b":"12"})";
const std::vector<VariablePlace> kPlaces = {{"tool", "t", "/a/0", 2, 2, "n"}};

}  // namespace

TEST_CASE("text that differs in the value of a variable only is the reviewed text") {
  CHECK(settled(kPlaces, kPinned, R"({"a":["x 345 of 7 y"],"b":"12"})") == kPinned);
  CHECK(settled(kPlaces, kPinned, kPinned) == kPinned);
}

TEST_CASE("and every other difference stays") {
  for (const auto* live :
       {R"({"a":["x a of 7 y"],"b":"12"})", R"({"a":["x  of 7 y"],"b":"12"})", R"({"a":["x 1 of 8 y"],"b":"12"})",
        R"({"a":["x 1 of 7 y."],"b":"12"})", R"({"a":["x 1 of 7 y of 7 y"],"b":"12"})",
        R"({"a":["y 1 of 7 y"],"b":"12"})", R"({"a":["x 1\n of 7 y"],"b":"12"})",
        R"({"a":["",  "x 1 of 7 y"],"b":"12"})", R"({"a":[1],"b":"12"})", R"({"b":"12"})"}) {
    CAPTURE(live);
    CHECK(settled(kPlaces, kPinned, live) != kPinned);
  }
  CHECK(settled(kPlaces, kPinned, "{\"a\":[\"x " + std::string(257, '1') + " of 7 y\"],\"b\":\"12\"}") != kPinned);
  CHECK(settled({{"tool", "other", "/a/0", 2, 2, "n"}}, kPinned, R"({"a":["x 1 of 7 y"],"b":"12"})") != kPinned);
  CHECK(settled({{"tool", "t", "/a/0", 2, 2, "undeclared"}}, kPinned, R"({"a":["x 1 of 7 y"],"b":"12"})") != kPinned);
}

TEST_CASE("a variable has one value in a catalog") {
  const std::vector<VariablePlace> twice = {{"tool", "t", "/a/0", 2, 2, "n"}, {"tool", "t", "/b", 0, 2, "n"}};
  CHECK(settled(twice, kPinned, R"({"a":["x 5 of 7 y"],"b":"5"})") == kPinned);
  CHECK(settled(twice, kPinned, R"({"a":["x 5 of 7 y"],"b":"6"})") != kPinned);
  const std::vector<VariablePlace> across = {{"tool", "t", "/b", 0, 2, "n"}, {"tool", "u", "/b", 0, 2, "n"}};
  VariableReader reader(kRules, across, Shown::reviewed);
  CHECK(reader.settled("tool", "t", R"({"b":"12"})", R"({"b":"5"})") == R"({"b":"12"})");
  CHECK(reader.settled("tool", "u", R"({"b":"12"})", R"({"b":"6"})") == R"({"b":"6"})");
}

TEST_CASE("two places that touch could only be guessed apart") {
  CHECK(settled({{"tool", "t", "/b", 0, 1, "n"}, {"tool", "t", "/b", 1, 1, "n"}}, R"({"b":"11"})", R"({"b":"22"})") ==
        R"({"b":"22"})");
}

TEST_CASE("a known value must be there, and is what the client gets") {
  const std::vector<VariablePlace> places = {{"tool", "t", "/d", 3, 4, "home"}};
  constexpr const char* kHome = R"({"d":"in /old now"})";
  CHECK(settled(places, kHome, R"({"d":"in /new now"})") == kHome);
  CHECK(settled(places, kHome, R"({"d":"in /new now"})", Shown::known) == R"({"d":"in /new now"})");
  CHECK(settled(places, kHome, R"({"d":"in /bad now"})") != kHome);
  CHECK(with_known_values(kRules, places, "tool", "t", kHome) == R"({"d":"in /new now"})");
}

TEST_CASE("known values are found as whole words, never in what tells items apart") {
  Snapshot snapshot;
  snapshot.tools = {{.name = "/new", .definition = R"({"description":"/new, /newer x/new and /new","name":"/new"})"}};
  snapshot.instructions = "in /new";
  CHECK(places_of_known(kRules, snapshot) ==
        std::vector<VariablePlace>{{"instructions", "", "", 3, 4, "home"},
                                   {"tool", "/new", "/description", 0, 4, "home"},
                                   {"tool", "/new", "/description", 23, 4, "home"}});
}

TEST_CASE("places that cannot be are refused") {
  Snapshot snapshot;
  snapshot.tools = {{.name = "t", .definition = R"({"d":"aé","name":"t"})"}};
  const auto holds = [&](std::vector<VariablePlace> places) {
    snapshot.variables = std::move(places);
    return check_places(snapshot).has_value();
  };
  CHECK(holds({{"tool", "t", "/d", 0, 1, "n"}, {"tool", "t", "/d", 1, 2, "n"}}));
  CHECK_FALSE(holds({{"tool", "t", "/d", 0, 2, "n"}}));  // ends inside a character
  CHECK_FALSE(holds({{"tool", "t", "/d", 2, 1, "n"}}));  // begins there
  CHECK_FALSE(holds({{"tool", "t", "/d", 0, 4, "n"}}));  // too long
  CHECK_FALSE(holds({{"tool", "t", "/d", 4, 1, "n"}}));
  CHECK_FALSE(holds({{"tool", "t", "/d", 0, 0, "n"}}));
  CHECK_FALSE(holds({{"tool", "t", "/e", 0, 1, "n"}}));
  CHECK_FALSE(holds({{"tool", "t", "/name", 0, 1, "n"}}));
  CHECK_FALSE(holds({{"tool", "u", "/d", 0, 1, "n"}}));
  CHECK_FALSE(holds({{"instructions", "", "", 0, 1, "n"}}));
  CHECK_FALSE(holds({{"tool", "t", "/d", 0, 1, "n"}, {"tool", "t", "/d", 0, 1, "n"}}));
  CHECK_FALSE(holds({{"tool", "t", "/d", 1, 2, "n"}, {"tool", "t", "/d", 0, 1, "n"}}));
}

TEST_CASE("places live as long as the text that they are in") {
  Snapshot before;
  before.tools = {{.name = "t", .definition = R"({"d":"a","name":"t"})"}};
  before.variables = {{"tool", "t", "/d", 0, 1, "n"}};
  Snapshot after = before;
  after.variables.clear();
  CHECK(places_that_hold(after, {&after, &before}) == before.variables);
  after.tools[0].definition = R"({"d":"b","name":"t"})";
  CHECK(places_that_hold(after, {&after, &before}).empty());
}
