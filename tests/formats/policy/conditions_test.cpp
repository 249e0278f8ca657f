// SPDX-License-Identifier: Apache-2.0
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::policy::ArgumentCondition;
using Strings = std::vector<std::string>;

namespace {

// Of one rule with the argument /a, whose condition is `text`; positions are left out.
ArgumentCondition condition(const std::string& text) {
  const auto rules =
      accept("tools: {rules: [{tools: [t], action: allow, arguments: {/a: " + text + "}}]}\n").tools.rules;
  REQUIRE(rules.size() == 1);
  REQUIRE(rules[0].arguments.size() == 1);
  return rules[0].arguments[0];
}

// What is wrong with it, without the place.
std::string fault(const std::string& text) {
  const std::string all = faults("tools: {rules: [{tools: [t], action: allow, arguments: {/a: " + text + "}}]}\n");
  const std::size_t place = all.find(": ");
  return place == std::string::npos ? all : all.substr(place + 2);
}

std::string rules(const std::string& list) { return faults("tools:\n  rules:\n" + list); }

}  // namespace

TEST_CASE("every key of a condition reads into it") {
  const ArgumentCondition all = condition(
      "{within: [/data, /tmp], matches: \"[a-z]+\", not_matches: [\"x\", \"y\"], max_length: 9, optional: true}");
  CHECK(all.pointer == "/a");
  CHECK(all.within == Strings{"/data", "/tmp"});
  CHECK(all.matches == Strings{"[a-z]+"});
  CHECK(all.not_matches == Strings{"x", "y"});
  CHECK(all.max_length == 9);
  CHECK(all.optional);
  CHECK(condition("{forbid: true}").forbid);
  CHECK(condition("{minimum: -3, maximum: 9007199254740992}").minimum == -3);
  CHECK(condition("{max_items: 0}").max_items == 0);
  CHECK(condition("{one_of: [a, \"1\", 1, 1.50, true, null, \"true\"]}").one_of ==
        Strings{"\"a\"", "\"1\"", "1", "1.50", "true", "null", "\"true\""});
  CHECK(
      condition("{hosts: [API.Example.com, \"*.internal.example\", 127.0.0.1, \"::1\", \"münchen.example\"]}").hosts ==
      Strings{"api.example.com", "*.internal.example", "127.0.0.1", "::1", "xn--mnchen-3ya.example"});
  CHECK(condition("{}") == ArgumentCondition{.pointer = "/a", .position = condition("{}").position});
}

TEST_CASE("a condition that can never hold, or says nothing, is an error") {
  for (const char* text :
       {"{minimum: 3, maximum: 2}", "{one_of: []}", "{within: []}", "{hosts: []}", "{matches: []}", "{not_matches: []}",
        "{minimum: 1, max_length: 3}", "{max_items: 1, matches: x}", "{max_items: 1, maximum: 3}",
        "{within: [/x], hosts: [a.example]}", "{forbid: true, optional: true}", "{forbid: true, max_length: 3}",
        "{forbid: true, one_of: [a]}", "{one_of: [abc], max_length: 2}", "{one_of: [5], maximum: 4}",
        "{one_of: [a], maximum: 4}", "{one_of: [a, b], matches: \"a\"}", "{optional: true}"}) {
    CHECK_MESSAGE(!fault(text).empty(), text);
  }
  CHECK(fault("{minimum: 3, maximum: 2}") ==
        "the condition on '/a' can never hold: its minimum is more than its maximum");
  CHECK(fault("{one_of: []}") == "arguments./a.one_of must not be an empty list");
}

TEST_CASE("what no condition can be made of is an error") {
  for (const char* text : {"{within: [data]}",
                           "{within: [/data/..]}",
                           "{within: [/data/]}",
                           "{within: [~/x]}",
                           "{within: /data}",
                           "{matches: \"(\"}",
                           "{matches: \"(?=x)\"}",
                           "{not_matches: [\"[\"]}",
                           "{one_of: [[a]]}",
                           "{one_of: [{a: b}]}",
                           "{one_of: [9007199254740993]}",
                           "{maximum: 9007199254740993}",
                           "{maximum: 1.5}",
                           "{maximum: \"5\"}",
                           "{max_length: -1}",
                           "{hosts: [\"a b\"]}",
                           "{hosts: [\"https://a.example\"]}",
                           "{hosts: [\"a.example:443\"]}",
                           "{hosts: [127.1]}",
                           "{matchs: x}",
                           "[]",
                           "x"}) {
    CHECK_MESSAGE(!fault(text).empty(), text);
  }
  CHECK(faults("tools: {rules: [{tools: [t], action: allow, arguments: {a: {}}}]}\n").find("pointer begins with /") !=
        std::string::npos);
  CHECK(!faults("tools: {rules: [{tools: [t], action: allow, arguments: {}}]}\n").empty());
  CHECK(!faults("tools: {rules: [{tools: [t], action: allow, when: []}]}\n").empty());
}

TEST_CASE("rules with `when` and rules without action cover no later ones") {
  CHECK(rules("    - {tools: [\"*\"], arguments: {/a: {}}}\n    - {tools: [t], action: allow}\n").empty());
  CHECK(rules("    - {tools: [\"*\"], when: {/a: {}}, action: block}\n    - {tools: [t], action: allow}\n").empty());
  CHECK(rules("    - {tools: [\"*\"], when: {/a: {}}, action: block}\n"
              "    - {tools: [t], when: {/b: {}}, action: allow}\n")
            .empty());
}

TEST_CASE("a rule behind one that takes all its calls is an error") {
  CHECK(rules("    - {tools: [\"*\"], when: {/a: {}, /b: {forbid: true}}, action: block}\n"
              "    - {tools: [t], when: {/b: {forbid: true}, /a: {}}, action: allow}\n") ==
        "7:7: this rule can never decide: rule 1 (line 6) and those before it take all its calls");
  CHECK(rules("    - {tools: [\"*\"], action: block, arguments: {/a: {}}}\n"
              "    - {tools: [t], when: {/b: {}}, action: allow}\n") ==
        "7:7: this rule can never decide: rule 1 (line 6) and those before it take all its calls");
  CHECK(rules("    - {tools: [\"*\"], action: block}\n    - {tools: [t], arguments: {/b: {}}}\n") ==
        "7:7: this rule can never apply: rule 1 (line 6) and those before it take all its tools");
}

TEST_CASE("a rule whose conditions hold only where those of an earlier one do is an error") {
  const auto pair = [](std::string_view first, std::string_view second) {
    return rules("    - {tools: [t], when: {" + std::string(first) + "}, action: allow}\n    - {tools: [t], when: {" +
                 std::string(second) + "}, action: block}\n");
  };
  for (const auto& [first, second] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"/a: {one_of: [p, q]}", "/a: {one_of: [q]}"},
           {"/a: {}", "/a: {matches: x}"},
           {"/a: {minimum: 1}", "/a: {minimum: 5, maximum: 9}"},
           {"/a: {max_length: 9, optional: true}", "/a: {max_length: 3}"},
           {"/a: {max_length: 9, optional: true}", "/a: {forbid: true}"},
           {"/a: {matches: [u, v]}", "/a: {matches: v, not_matches: w}"},
           {"/a: {within: [/x, /y]}", "/a: {within: [/y]}"},
           {"/a: {hosts: [a.org, b.org]}", "/a: {hosts: [a.org]}"},
           {"/a: {one_of: [p]}", "/b: {max_items: 2}, /a: {one_of: [p]}"},
       }) {
    CAPTURE(second);
    CHECK(pair(first, second) ==
          "7:7: this rule can never decide: rule 1 (line 6) and those before it take all its calls");
    CHECK(pair(second, first).empty());
  }
  CHECK(pair("/a: {max_length: 9}", "/a: {max_length: 3, optional: true}").empty());
  CHECK(pair("/a: {not_matches: x}", "/a: {max_length: 3}").empty());
  CHECK(pair("/a: {forbid: true}", "/b: {forbid: true}").empty());
}

TEST_CASE("what is wrong with a pattern is told with what helps against just that") {
  const auto whole = [](const std::string& argument) {
    const auto errors = cordon::formats::check_policy(
        policy_with("tools: {rules: [{tools: [t], action: allow, arguments: {" + argument + "}}]}\n"), "p");
    return errors.empty() ? std::string() : errors.front().to_string();
  };
  const auto says = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  CHECK(says(whole("/a: {matches: '(?!x)y'}"), "'(?!x)y' is no pattern of RE2: "));
  CHECK(says(whole("/a: {matches: '(?!x)y'}"), "no looking ahead and behind"));
  CHECK(says(whole("/a: {matches: '(a)\\1'}"), "no references back"));
  CHECK(says(whole("/a: {matches: '[a'}"), "close the bracket"));
  CHECK(says(whole("/a: {not_matches: ['*.txt']}"), "these are patterns, not globs"));
  CHECK_FALSE(says(whole("/a: {matches: '[a'}"), "/path"));
  CHECK(says(whole("path: {matches: x}"), "name the argument as /path, or /list/*/member"));
}
