// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/catalog/diff.hpp"
#include "make.hpp"

namespace cordon::catalog {
namespace {

TEST_CASE("a candidate is sorted, digested and has no classes of its own") {
  const Catalog live = {.tools = {{"b", R"({"name":"b"})"}, {"a", R"({"name":"a"})"}},
                        .instructions = "hello",
                        .server_info = R"({"name":"s"})",
                        .capabilities = R"({"tools":{}})",
                        .protocol_versions = {"2025-11-25"}};
  const Result<Snapshot> candidate = as_candidate("demo", live, nullptr);
  REQUIRE(candidate.has_value());
  CHECK(candidate->server == "demo");
  CHECK_FALSE(candidate->reviewed);
  REQUIRE(candidate->tools.size() == 2);
  CHECK(candidate->tools[0].name == "a");
  CHECK(candidate->tools[0].digest == tool_digest(R"({"name":"a"})"));
  CHECK(candidate->tools[0].effect == "unknown");
  CHECK(candidate->tools[0].effect_source == EffectSource::proposed);
  CHECK(candidate->instructions == "hello");
  CHECK(candidate->server_info == R"({"name":"s"})");
  CHECK(candidate->capabilities == R"({"tools":{}})");
  CHECK(candidate->digest == snapshot_digest(*candidate));
}

TEST_CASE("the order of a live list does not matter to the digest") {
  const Catalog one = {.tools = {{"b", R"({"name":"b"})"}, {"a", R"({"name":"a"})"}}};
  const Catalog two = {.tools = {{"a", R"({"name":"a"})"}, {"b", R"({"name":"b"})"}}};
  CHECK(as_candidate("demo", one, nullptr)->digest == as_candidate("demo", two, nullptr)->digest);
}

TEST_CASE("a name that is used twice is refused") {
  const Catalog live = {.tools = {{"a\x1b", "{}"}, {"b", "{}"}, {"a\x1b", "{}"}}};
  const Result<Snapshot> candidate = as_candidate("demo", live, nullptr);
  REQUIRE_FALSE(candidate.has_value());
  CHECK(candidate.error().code == Errc::catalog_invalid);
  CHECK(candidate.error().where == "tool 'a\\x1b'");
}

TEST_CASE("reviewed classes are carried over to equal definitions only") {
  const Snapshot reviewed = snapshot_of({R"({"name":"same"})", R"({"name":"form"})", R"({"name":"other"})"});
  const Catalog live = {.tools = {{"same", R"({"name":"same"})"},
                                  {"form", R"({"annotations":{},"name":"form"})"},
                                  {"other", R"({"description":"new","name":"other"})"},
                                  {"new", R"({"name":"new"})"}}};
  const Result<Snapshot> candidate = as_candidate("demo", live, &reviewed);
  REQUIRE(candidate.has_value());
  CHECK(candidate->find("same")->effect == "read");
  CHECK(candidate->find("same")->effect_source == EffectSource::reviewer);
  CHECK(candidate->find("form")->effect == "read");
  CHECK(candidate->find("other")->effect == "unknown");
  CHECK(candidate->find("other")->effect_source == EffectSource::proposed);
  CHECK(candidate->find("new")->effect == "unknown");
}

TEST_CASE("a fingerprint is written as canonical JSON") {
  const LaunchFingerprint launch = {.command = {"node", "a \"b\""},
                                    .executable = "sha256:1",
                                    .files = {{"/x", "sha256:2"}},
                                    .set_values = "sha256:3",
                                    .environment_names = {"A", "B"}};
  const std::string text = fingerprint_json(launch);
  CHECK(canonical(text) == text);
  CHECK(text == R"({"command":["node","a \"b\""],"environment_names":["A","B"],"executable":"sha256:1",)"
                R"("files":{"/x":"sha256:2"},"set_values":"sha256:3"})");
}

}  // namespace
}  // namespace cordon::catalog
