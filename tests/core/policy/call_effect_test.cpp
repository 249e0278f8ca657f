// SPDX-License-Identifier: Apache-2.0
#include "core/policy/call_effect.hpp"

#include <doctest/doctest.h>

#include "core/json/read.hpp"

using namespace cordon;
using policy::Effect;
using When = std::vector<catalog::EffectCondition>;
using Effects = std::vector<Effect>;

namespace {

const std::string kSchema =
    R"({"type":"object","properties":{"mode":{"enum":["list","get","delete"]},"force":{"type":"boolean"},
        "filename":{"type":"string"},"free":{"type":"string"},
        "steps":{"type":"array","items":{"$ref":"#/$defs/step"}}},
        "$defs":{"step":{"properties":{"action":{"anyOf":[{"const":"read"},{"const":"write"}]}}}}})";

Effects effects(Effect base, const When& when, const std::string& arguments, bool by_person = true) {
  const auto schema = json::read(kSchema, {});
  const auto document = json::read(arguments, {});
  REQUIRE(schema.has_value());
  REQUIRE(document.has_value());
  const policy::SchemaWalk walk(schema->root());
  return policy::call_effects(
             {.base = base, .by_person = by_person, .when = when, .schema = walk, .arguments = document->root()})
      .all;
}

const When kMode = {{"/mode", "delete", "destructive"}, {"/mode", "list", "read"}};

}  // namespace

TEST_CASE("without conditions a call has the class of its tool") {
  CHECK(effects(Effect::write, {}, R"({"mode":"delete"})") == Effects{Effect::write});
  CHECK(effects(Effect::read, {}, "{}") == Effects{Effect::read});
  CHECK(effects(Effect::read, {}, "{}", false) == Effects{Effect::unknown});
}

TEST_CASE("a value that was reviewed has its class, another listed one that of the tool") {
  CHECK(effects(Effect::read, kMode, R"({"mode":"delete"})") == Effects{Effect::destructive});
  CHECK(effects(Effect::read, kMode, R"({"mode":"get"})") == Effects{Effect::read});
  CHECK(effects(Effect::write, kMode, R"({"mode":"get"})") == Effects{Effect::write});
  CHECK(effects(Effect::write, kMode, "{}") == Effects{Effect::write});
  CHECK(effects(Effect::destructive, kMode, R"({"mode":"list"})") == Effects{Effect::read});
}

TEST_CASE("a proposal that nobody confirmed never makes a call milder") {
  CHECK(effects(Effect::destructive, kMode, R"({"mode":"list"})", false) ==
        Effects{Effect::unknown, Effect::destructive});
  CHECK(effects(Effect::write, kMode, R"({"mode":"delete"})", false) == Effects{Effect::destructive, Effect::write});
}

TEST_CASE("a value that was not reviewed counts as the worst of all") {
  for (const char* odd : {R"({"mode":"DELETE"})", R"({"mode":["delete"]})", R"({"mode":"purge"})", R"({"mode":null})",
                          R"({"mode":{"x":"list"}})", R"({"mode":["list","purge"]})"}) {
    CHECK_MESSAGE(effects(Effect::read, kMode, odd).front() == Effect::unknown, odd);
  }
}

TEST_CASE("an argument that is given has its class besides; a flag only when it is on") {
  const When when = {{"/filename", std::nullopt, "write"}, {"/force", std::nullopt, "destructive"}};
  CHECK(effects(Effect::read, when, "{}") == Effects{Effect::read});
  CHECK(effects(Effect::read, when, R"({"filename":"x"})") == Effects{Effect::write, Effect::read});
  CHECK(effects(Effect::read, when, R"({"filename":null})") == Effects{Effect::write, Effect::read});
  CHECK(effects(Effect::read, when, R"({"force":false})") == Effects{Effect::read});
  CHECK(effects(Effect::read, when, R"({"force":true})") == Effects{Effect::destructive, Effect::read});
  CHECK(effects(Effect::read, when, R"({"force":"false"})") == Effects{Effect::destructive, Effect::read});
  CHECK(effects(Effect::read, {{"", std::nullopt, "send"}}, "{}") == Effects{Effect::send, Effect::read});
}

TEST_CASE("elements of a list are met with and without a star") {
  for (const char* pointer : {"/steps/action", "/steps/*/action"}) {
    const When when = {{pointer, "write", "write"}};
    CAPTURE(pointer);
    CHECK(effects(Effect::read, when, R"({"steps":[{"action":"read"},{"action":"write"}]})") ==
          Effects{Effect::write, Effect::read});
    CHECK(effects(Effect::read, when, R"({"steps":[{"action":"read"}]})") == Effects{Effect::read});
    CHECK(effects(Effect::read, when, R"({"steps":[{"action":"Write"}]})").front() == Effect::unknown);
    CHECK(effects(Effect::read, when, R"({"steps":[]})") == Effects{Effect::read});
  }
}

TEST_CASE("what stands for a list or an object on the way hides nothing") {
  for (const char* pointer : {"/steps/action", "/steps/*/action", "/steps/0/action"}) {
    const When by_value = {{pointer, "write", "write"}};
    const When given = {{pointer, std::nullopt, "write"}};
    // A text that is read as JSON, for example.
    for (const char* odd : {R"({"steps":"[{\"action\":\"write\"}]"})", R"({"steps":"x"})", R"({"steps":["x"]})"}) {
      CHECK_MESSAGE(effects(Effect::read, by_value, odd).front() == Effect::unknown, odd);
      CHECK_MESSAGE(effects(Effect::read, given, odd).front() == Effect::write, odd);
    }
    CHECK(effects(Effect::read, by_value, R"({"steps":1})").front() == Effect::unknown);
    CHECK(effects(Effect::read, by_value, R"({"steps":null})") == Effects{Effect::read});
    CHECK(effects(Effect::read, by_value, R"({"steps":[{}]})") == Effects{Effect::read});
  }
}

TEST_CASE("a condition that cannot be read makes the class unknown") {
  CHECK(effects(Effect::read, {{"mode", "x", "read"}}, "{}").front() == Effect::unknown);
  CHECK(effects(Effect::read, {{"/mode", "list", "harmless"}}, R"({"mode":"list"})").front() == Effect::unknown);
}

TEST_CASE("the worst class is that of the tool or of some argument") {
  CHECK(policy::worst_effect(Effect::read, kMode) == Effect::destructive);
  CHECK(policy::worst_effect(Effect::unknown, kMode) == Effect::unknown);
}
