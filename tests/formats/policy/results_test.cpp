// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "formats/policy/support.hpp"

using namespace cordon;
using namespace cordon::formats::test;
using policy::Results;
using policy::SchemaCheck;

TEST_CASE("what is done with results reads") {
  const Results results = accept(
                              "results: {hidden_text: strip, terminal_escapes: flag, secrets: redact, schema: enforce, "
                              "max_bytes: 2MB}\n")
                              .results;
  CHECK(results.hidden_text == Results::Treatment::strip);
  CHECK(results.terminal_escapes == Results::Treatment::flag);
  CHECK(results.secrets == Results::Secrets::redact);
  CHECK(results.structured == SchemaCheck::enforce);
  CHECK(results.max_bytes == 2'000'000);
  CHECK(accept("results: {}\n").results == Results{});
  CHECK(accept("results: {hidden_text: off, terminal_escapes: off, secrets: flag}\n").results.hidden_text ==
        Results::Treatment::off);
}

TEST_CASE("what is no word for results is a fault") {
  CHECK(faults("results: {hidden_text: redact}\n") ==
        "4:24: results.hidden_text must be one of off, flag, strip, not 'redact'");
  CHECK(faults("results: {secrets: strip}\n") == "4:20: results.secrets must be one of off, flag, redact, not 'strip'");
  CHECK(faults("results: {schema: on}\n") == "4:19: results.schema must be one of off, enforce, not 'on'");
  CHECK(faults("results: {max_bytes: 10MiB}\n") ==
        "4:22: results.max_bytes must lie between 1000 and 10000000, not 10485760");
  CHECK(faults("results: {hiden_text: off}\n") == "4:11: unknown key 'hiden_text'");
}

TEST_CASE("a rule may set limits, with an action or without") {
  const policy::Tools tools = accept(
                                  "tools:\n  rules:\n    - {tools: [a], action: allow, calls_in_flight: 2}\n"
                                  "    - {tools: [\"*\"], calls_per_minute: 120, answer_timeout_seconds: 30}\n"
                                  "    - {tools: [b], action: block}\n")
                                  .tools;
  REQUIRE(tools.rules.size() == 3);
  CHECK(tools.rules[0].calls_in_flight == 2u);
  CHECK_FALSE(tools.rules[1].action.has_value());
  CHECK(tools.rules[1].calls_per_minute == 120u);
  CHECK(tools.rules[1].answer_timeout_seconds == 30u);
  CHECK(faults("tools: {rules: [{tools: [a], calls_per_minute: 0}]}\n") ==
        "4:48: tools.rules.calls_per_minute must lie between 1 and 10000, not 0");
  // Behind a rule that takes everything its limit still holds.
  CHECK(faults("tools: {rules: [{tools: [\"*\"], action: allow}, {tools: [a], calls_per_minute: 3}]}\n").empty());
}

TEST_CASE("arguments are held against the schema when asked") {
  CHECK(accept("tools: {schema: enforce}\n").tools.schema == SchemaCheck::enforce);
  CHECK(accept("tools: {schema: off}\n").tools.schema == SchemaCheck::off);
  CHECK(faults("tools: {schema: yes}\n") == "4:17: tools.schema must be one of off, enforce, not 'yes'");
}
