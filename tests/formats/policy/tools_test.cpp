// SPDX-License-Identifier: Apache-2.0
#include "core/policy/evaluate.hpp"
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::policy::Action;
using cordon::policy::Effect;
using cordon::policy::Position;
using cordon::policy::Tools;
using Strings = std::vector<std::string>;

TEST_CASE("a tools section reads into the tools and decides calls") {
  const Tools tools = accept(
                          "tools:\n"
                          "  effects: {read: flag, write: block}\n"
                          "  annotations: reviewed\n"
                          "  schema: off\n"
                          "  rules:\n"
                          "    - tools: [write_file, \"edit_*\"]\n"
                          "      action: confirm\n"
                          "    - {tools: [\"*\"], action: hide}\n")
                          .tools;
  CHECK(tools.effects.at(Effect::read) == Action::flag);
  CHECK(tools.effects.at(Effect::write) == Action::block);
  CHECK(tools.effects.at(Effect::send) == Action::confirm);
  CHECK(tools.effect_positions.at(Effect::read) == Position{5, 13});
  CHECK(tools.effect_positions.size() == 2);
  REQUIRE(tools.rules.size() == 2);
  CHECK(tools.rules[0].tools == Strings{"write_file", "edit_*"});
  CHECK(tools.rules[0].action == Action::confirm);
  CHECK(tools.rules[0].position == Position{9, 7});
  CHECK(tools.rules[1].position == Position{11, 7});
  CHECK(evaluate(tools, "edit_x", Effect::read).because == "rule 1 (p:9:7)");
  CHECK(evaluate(tools, "other", Effect::read).action == Action::hide);
}

TEST_CASE("without a tools section the effects of the contract hold") {
  Tools defaults;
  defaults.file = "p";
  CHECK(accept("").tools == defaults);
}

TEST_CASE("effects and actions are known words") {
  CHECK(faults("tools: {effects: {reed: allow}}\n") == "4:19: unknown key 'reed'");
  CHECK(faults("tools: {effects: {read: alow}}\n") ==
        "4:25: tools.effects.read must be one of allow, flag, confirm, block, hide, not 'alow'");
  CHECK(faults("tools: {effects: {read: true}}\n") ==
        "4:25: tools.effects.read must be one of allow, flag, confirm, block, hide, not 'true'");
  CHECK(faults("tools: {rules: [{tools: [a], action: deny}]}\n") ==
        "4:38: action of a rule must be one of allow, flag, confirm, block, hide, not 'deny'");
}

TEST_CASE("annotations are those of the reviewed class unless the policy says otherwise") {
  CHECK(accept("").tools.annotations == cordon::policy::Annotations::reviewed);
  CHECK(accept("tools: {annotations: server}\n").tools.annotations == cordon::policy::Annotations::server);
  CHECK(faults("tools: {annotations: serve}\n") ==
        "4:22: tools.annotations must be one of reviewed, server, not 'serve'");
}

TEST_CASE("a rule without an action needs conditions or limits") {
  CHECK(faults("tools: {rules: [{tools: [a]}]}\n") ==
        "4:17: a rule has no action, no conditions and no limits, so it does nothing");
  CHECK(faults("tools: {rules: [{tools: [a], when: {/m: {}}}]}\n") ==
        "4:17: a rule has no action, no conditions and no limits, so it does nothing");
  CHECK(faults("tools: {rules: [{tools: [a], arguments: {/m: {}}}]}\n").empty());
  CHECK(faults("tools: {rules: [{tools: [a], calls_per_minute: 3}]}\n").empty());
}

TEST_CASE("read_only is a switch") {
  CHECK(accept("tools: {read_only: true}\n").tools.read_only);
  CHECK_FALSE(accept("tools: {read_only: false}\n").tools.read_only);
  CHECK(faults("tools: {read_only: yes}\n") == "4:20: tools.read_only must be true or false, not 'yes'");
}

TEST_CASE("how a person is asked") {
  using cordon::policy::Confirm;
  using Fallback = Confirm::Fallback;
  using Remember = Confirm::Remember;
  CHECK(accept("").tools.confirm == Confirm{50, Fallback::approve, Remember::never});
  CHECK(accept("tools: {confirm: {}}\n").tools.confirm == Confirm());
  CHECK(accept("tools: {confirm: {timeout_seconds: 5, without_client_support: block, remember: session}}\n")
            .tools.confirm == Confirm{5, Fallback::block, Remember::session});
  CHECK(accept("tools: {confirm: {remember: same_arguments}}\n").tools.confirm.remember == Remember::same_arguments);
  CHECK(faults("tools: {confirm: {timeout_seconds: 4}}\n") ==
        "4:36: tools.confirm.timeout_seconds must lie between 5 and 3600, not 4");
  CHECK(faults("tools: {confirm: {remember: always}}\n") ==
        "4:29: tools.confirm.remember must be one of never, same_arguments, session, not 'always'");
  CHECK(faults("tools: {confirm: {without_client_support: allow}}\n") ==
        "4:43: tools.confirm.without_client_support must be one of approve, block, not 'allow'");
  CHECK(faults("tools: {confirm: {timeout: 5}}\n").starts_with("4:19: unknown key 'timeout'"));
}

TEST_CASE("a rule names tools by globs that mean what they say") {
  const auto rule = [](std::string_view globs) {
    return faults("tools: {rules: [{tools: " + std::string(globs) + ", action: block}]}\n");
  };
  CHECK(rule("[]") == "4:25: tools of a rule must not be an empty list");
  CHECK(rule("[\"\"]") == "4:26: an item of tools must not be empty");
  CHECK(rule("delete") == "4:25: tools of a rule must be a list, not a string");
  CHECK(rule("[\"{delete,remove}_*\"]") == "4:26: only * and ? are special in a glob: '{delete,remove}_*'");
  CHECK(rule("[\"a[bc]\"]") == "4:26: only * and ? are special in a glob: 'a[bc]'");
  CHECK(rule("[\"!a\"]") == "4:26: only * and ? are special in a glob: '!a'");
  CHECK(rule("['a\\*']") == "4:26: only * and ? are special in a glob: 'a\\\\*'");
  CHECK(rule("[\"a\\nb\"]") == "4:26: an item of tools holds a line break or a tab: 'a\\nb'");
  CHECK(rule("[a, b, a]") == "4:32: the glob 'a' stands twice in one rule");
  CHECK(rule("[" + std::string(257, 'a') + "]") == "4:26: a glob has more than 256 bytes");
  CHECK(rule("[7]") == "4:26: an item of tools must be a string, but '7' without quotes is a number");
  CHECK(rule("[\"*\", \"délétér?\"]").empty());
  CHECK(faults("tools: {rules: [{action: block}]}\n") == "4:17: a rule names no tools");
  CHECK(faults("tools: {rules: [block]}\n") == "4:17: tools.rules must be a mapping of keys to values, not a string");
  CHECK(faults("tools: {rules: {}}\n") == "4:16: tools.rules must be a list, not a mapping");
  CHECK(faults("tools: {rules: []}\n").empty());
}

namespace {

// Rules that block, one per list of globs, in lines 6, 7, …
std::string rules(std::initializer_list<std::string_view> lists) {
  std::string text = "tools:\n  rules:\n";
  for (const std::string_view list : lists) {
    text += "    - {tools: [" + std::string(list) + "], action: block}\n";
  }
  return faults(text);
}

}  // namespace

TEST_CASE("a rule whose tools earlier rules take is an error") {
  CHECK(rules({"\"*\"", "a"}) ==
        "7:7: this rule can never decide: rule 1 (line 6) and those before it take all its tools");
  CHECK(rules({"\"read_*\"", "\"read_?\""}) ==
        "7:7: this rule can never decide: rule 1 (line 6) and those before it take all its tools");
  CHECK(rules({"a", "b", "a, b"}) ==
        "8:7: this rule can never decide: rule 2 (line 7) and those before it take all its tools");
  CHECK(rules({"\"**\"", "\"*\""}) ==
        "7:7: this rule can never decide: rule 1 (line 6) and those before it take all its tools");
}

TEST_CASE("a rule that can still decide is none") {
  CHECK(rules({"a", "\"*\""}).empty());
  CHECK(rules({"\"read_*\"", "read_x, write_x"}).empty());
  CHECK(rules({"\"*_a\"", "\"b_*\""}).empty());
  CHECK(rules({"\"?\"", "é, \"??\""}).empty());
}

TEST_CASE("thousands of awkward globs are answered in bounded time") {
  std::string text = "tools:\n  rules:\n";
  for (int i = 0; i < 3000; ++i) {
    text += "    - {tools: [\"" + std::string(60, '*') + "a" + std::string(100, '?') + std::to_string(i) +
            "\"], action: block}\n";
  }
  const std::string found = faults(text);
  CHECK(found.find("too many to be checked") != std::string::npos);
  CHECK(found.find('\n') == std::string::npos);
}

TEST_CASE("hundreds of plain rules are fine") {
  std::string text = "tools:\n  rules:\n";
  for (int i = 0; i < 800; ++i) {
    text += "    - {tools: [\"group" + std::to_string(i) + "_*\", plain" + std::to_string(i) + "], action: block}\n";
  }
  CHECK(faults(text).empty());
}
