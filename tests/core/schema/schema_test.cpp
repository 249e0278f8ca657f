// SPDX-License-Identifier: Apache-2.0
#include "core/schema/schema.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/json/read.hpp"
#include "core/schema/decimal.hpp"
#include "core/schema/pattern.hpp"

using namespace cordon;
using schema::Outcome;
using schema::Reading;

namespace {

schema::Finding check(const std::string& schema_text, const std::string& value, Reading reading = Reading::unambiguous,
                      std::size_t max_steps = schema::kMaxSteps) {
  const auto schema_json = json::read(schema_text, {});
  REQUIRE(schema_json);
  const auto compiled = schema::Schema::compile(schema_json->root());
  CAPTURE(compiled.has_value() ? "" : compiled.error());
  REQUIRE(compiled);
  const auto document = json::read(value, {});
  REQUIRE(document);
  return compiled->check(document->root(), reading, max_steps);
}

Outcome outcome(const std::string& schema_text, const std::string& value, Reading reading = Reading::unambiguous) {
  return check(schema_text, value, reading).outcome;
}

std::string refusal(const std::string& schema_text) {
  const auto document = json::read(schema_text, {});
  REQUIRE(document);
  const auto compiled = schema::Schema::compile(document->root());
  return compiled ? std::string() : compiled.error();
}

}  // namespace

TEST_CASE("a finding names the place in the value and the keyword") {
  const auto finding =
      check(R"({"type":"object","properties":{"a/b":{"type":"array","items":{"maximum":3}}}})", R"({"a/b":[1,2,9]})");
  CHECK(finding.outcome == Outcome::violates);
  CHECK(finding.place == "/a~1b/2");
  CHECK(finding.keyword == "maximum");
  CHECK(check(R"({"required":["x"]})", "{}").keyword == "required");
  CHECK(check(R"({"anyOf":[{"type":"string"},{"minimum":5}]})", "1").keyword == "anyOf");
}

TEST_CASE("numbers are compared digit by digit") {
  CHECK(outcome(R"({"maximum":9007199254740992})", "9007199254740993", Reading::exact) == Outcome::violates);
  CHECK(outcome(R"({"maximum":1})", "1.0000000000000000000001", Reading::exact) == Outcome::violates);
  CHECK(outcome(R"({"exclusiveMaximum":1})", "0.99999999999999999999999", Reading::exact) == Outcome::fits);
  CHECK(outcome(R"({"const":1})", "1.0") == Outcome::fits);
  CHECK(outcome(R"({"enum":[100]})", "1e2") == Outcome::fits);
  CHECK(outcome(R"({"multipleOf":0.01})", "19.99") == Outcome::fits);
  CHECK(outcome(R"({"multipleOf":0.01})", "19.995") == Outcome::violates);
  CHECK(outcome(R"({"type":"integer"})", "1e1000000", Reading::exact) == Outcome::fits);
  CHECK(outcome(R"({"minimum":-0})", "-0.0") == Outcome::fits);
  CHECK(outcome(R"({"minimum":-1.5})", "-1.6") == Outcome::violates);
}

TEST_CASE("what readers read differently is told, where the schema reads it") {
  CHECK(outcome(R"({"maximum":1})", "1.0000000000000000000001") == Outcome::ambiguous);
  CHECK(outcome(R"({"type":"integer"})", "9007199254740993") == Outcome::ambiguous);
  CHECK(outcome(R"({"type":"integer"})", "9007199254740992") == Outcome::fits);
  CHECK(outcome(R"({"type":"number"})", "9007199254740993") == Outcome::fits);
  CHECK(outcome(R"({"const":1})", "1e999999999999999999999") == Outcome::ambiguous);
  CHECK(outcome(R"({"minimum":0})", "1e-400") == Outcome::ambiguous);
  CHECK(outcome(R"({"not":{"maximum":1}})", "1.0000000000000000000001") == Outcome::ambiguous);
  CHECK(outcome(R"({"minimum":0})", "0.1") == Outcome::fits);
  CHECK(outcome(R"({"maxLength":3})", R"("a\ud800")") == Outcome::ambiguous);
  CHECK(outcome(R"({"enum":["a"]})", R"("a\u0000")") == Outcome::ambiguous);
  CHECK(outcome(R"({"type":"string"})", R"("a\ud800")") == Outcome::fits);
}

TEST_CASE("work is bounded, whatever the schema") {
  // Each level asks the next one twice.
  std::string bomb = R"({"$defs":{)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/$defs/)" + std::to_string(i + 1) + R"("})";
    bomb += '"' + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  bomb += R"("40":true},"$ref":"#/$defs/0"})";
  CHECK(outcome(bomb, "1") == Outcome::too_complex);
  CHECK(outcome(R"({"$ref":"#"})", "1") == Outcome::too_complex);
  CHECK(outcome(R"({"not":{"$ref":"#"}})", "1") == Outcome::too_complex);
  CHECK(check(R"({"items":{"type":"integer"}})", "[1,2,3,4,5,6,7,8,9]", Reading::exact, 5).outcome ==
        Outcome::too_complex);
  std::string deep(100, '[');
  deep += std::string(100, ']');
  CHECK(outcome(R"({"items":{"$ref":"#"}})", deep) == Outcome::fits);
}

TEST_CASE("what is not understood is refused as a whole") {
  CHECK(refusal(R"({"$schema":"http://json-schema.org/draft-04/schema#"})").find("$schema") != std::string::npos);
  CHECK(refusal(R"({"$schema":7})").find("$schema") != std::string::npos);
  for (const char* text : {R"({"$ref":"https://example.com/x.json"})",
                           R"({"$ref":"#/nowhere"})",
                           R"({"$ref":"other.json#/a"})",
                           R"({"properties":{"a":{"$ref":7}}})",
                           R"({"pattern":"(?<=a)b"})",
                           R"({"pattern":"(a)\\1"})",
                           R"({"patternProperties":{"(":true}})",
                           R"({"type":"strin"})",
                           R"({"type":[]})",
                           R"({"required":true})",
                           R"({"minimum":"1"})",
                           R"({"minLength":-1})",
                           R"({"multipleOf":0})",
                           R"({"properties":[]})",
                           R"({"items":1})",
                           R"({"items":[{}],"prefixItems":[{}]})",
                           R"({"$recursiveRef":"#"})",
                           R"({"allOf":[]})",
                           R"({"enum":1})",
                           R"({"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}})",
                           R"(7)",
                           R"({"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}})"}) {
    CAPTURE(text);
    CHECK_FALSE(refusal(text).empty());
  }
  CHECK(refusal(R"({"format":"never-heard-of","x-mine":1,"default":3,"title":"t"})").empty());
}

TEST_CASE("without a dialect old forms demand what they always demanded") {
  CHECK(outcome(R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a",1])") == Outcome::violates);
  CHECK(outcome(R"({"dependencies":{"a":["b"]}})", R"({"a":1})") == Outcome::violates);
  CHECK(outcome(R"({"definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}})",
                R"({"x":1})") == Outcome::violates);
}

TEST_CASE("a name that only looks the same is another one") {
  CHECK(outcome(R"({"required":["path"]})", R"({"Path":1})") == Outcome::violates);
  CHECK(outcome(R"({"properties":{"p\u0061th":{"type":"string"}}})", R"({"path":1})") == Outcome::violates);
}

TEST_CASE("patterns mean what they mean in ECMAScript") {
  const auto matches = [](const char* pattern, std::string_view text) {
    const auto compiled = schema::Pattern::compile(pattern);
    CAPTURE(pattern);
    CAPTURE(compiled.has_value() ? "" : compiled.error());
    REQUIRE(compiled);
    return compiled->matches(text);
  };
  CHECK(matches("^\\d+$", "12"));
  CHECK_FALSE(matches("^\\d+$", "12\n"));
  CHECK(matches("^\\s$", "\u00a0"));
  CHECK(matches("^[\\s]$", "\ufeff"));
  CHECK_FALSE(matches("^\\S$", "\u2003"));
  CHECK_FALSE(matches("^.$", "\r"));
  CHECK(matches("^[^]$", "\n"));
  CHECK_FALSE(matches("[]", "a"));
  CHECK(matches("^[[:alpha:]$", ":"));
  CHECK(matches("^\\u00e4\\u{1f600}$", "ä😀"));
  CHECK(matches("^\\ud83d\\ude00$", "😀"));
  CHECK(matches("^\\cI\\x41\\/\\-$", "\tA/-"));
  CHECK(matches("^(?<y>\\d{4})$", "2020"));
  CHECK(matches("^\\p{Letter}+$", "ä"));
  CHECK_FALSE(matches("^(?!\\.)(?!.*\\.\\.)[a-z.]+$", ".a"));
  CHECK_FALSE(matches("^(?!\\.)(?!.*\\.\\.)[a-z.]+$", "a..b"));
  CHECK(matches("^(?!\\.)(?!.*\\.\\.)[a-z.]+$", "a.b"));
  CHECK_FALSE(matches("^(?=.*[0-9])[a-z0-9]+$", "abc"));
  for (const char* pattern : {"^(?!a)b|c", "a(?=b)", "\\a", "\\Qa\\E", "\\z", "(?P<n>a)", "(?i)a", "\\k<n>", "[a",
                              "a\\", "\\u{110000}", "\\ud800", "^(?!a)*b"}) {
    CAPTURE(pattern);
    CHECK_FALSE(schema::Pattern::compile(pattern));
  }
}

TEST_CASE("a decimal is the value of its spelling") {
  using schema::decimal;
  CHECK(schema::spelling(decimal("-0.0120e3")) == "-12e2");
  CHECK(schema::spelling(decimal("0e5")) == "e0");
  CHECK(schema::count_of(decimal("1.5e1")) == 15u);
  CHECK_FALSE(schema::count_of(decimal("1.5")));
  CHECK_FALSE(schema::count_of(decimal("-1")));
  CHECK(schema::multiple_of(decimal("1e300"), decimal("4")));
  CHECK_FALSE(schema::multiple_of(decimal("1e300"), decimal("3")));
  CHECK(schema::multiple_of(decimal("0"), decimal("7")));
  CHECK(schema::reads_alike(decimal("123456789.012345")));
  CHECK_FALSE(schema::reads_alike(decimal("0.1234567890123456")));
}
