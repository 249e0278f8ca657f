// SPDX-License-Identifier: Apache-2.0
// The official suite, as Debian packages it. What is skipped is listed here, each with its reason, and counted.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/schema/schema.hpp"

using namespace cordon;

namespace {

struct Skip {
  std::string_view file;
  std::string_view group;  // the beginning of its description; empty: the whole file
  std::string_view why;
};

constexpr std::string_view kFetch = "refers to a document of its own, which is never fetched";
constexpr std::array kSkips = std::to_array<Skip>({
    {"refRemote.json", "", kFetch},
    {"optional/content.json", "", "encoded content is described, not demanded"},
    {"vocabulary.json", "", "meta-schemas of one's own are an unknown dialect"},
    {"definitions.json", "", kFetch},
    {"defs.json", "", kFetch},
    {"ref.json", "remote ref, containing refs itself", kFetch},
    {"ref.json", "URN base URI with f-component", kFetch},
    {"id.json", "Invalid use of fragments in location-independent $id", kFetch},
    {"id.json", "Valid use of empty fragments in location-independent $id", kFetch},
    {"id.json", "Unnormalized $ids are allowed but discouraged", kFetch},
    {"anchor.json", "invalid anchors", kFetch},
    {"dynamicRef.json", "strict-tree schema, guards against misspelled properties", kFetch},
    {"dynamicRef.json", "tests for implementation dynamic anchor and reference link", kFetch},
    {"dynamicRef.json", "$ref and $dynamicAnchor are independent of order", kFetch},
    {"dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor", kFetch},
});

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Counts {
  std::size_t passed = 0;
  std::size_t skipped = 0;
};

const Skip* skip_of(std::string_view file, std::string_view group) {
  const auto found = std::ranges::find_if(
      kSkips, [&](const Skip& skip) { return skip.file == file && group.starts_with(skip.group); });
  return found == kSkips.end() ? nullptr : &*found;
}

// The suite of a dialect takes that dialect for granted.
std::string with_dialect(const json::Value& schema, std::string_view uri) {
  if (!schema.is(json::Kind::object) || schema.find("$schema")) {
    return std::string(schema.raw());
  }
  json::Writer w;
  w.begin_object().member("$schema", uri);
  for (const json::Member member : schema.members()) {
    w.key(member.key.string()).value(member.value);
  }
  w.end_object();
  return w.take();
}

// What the suite marks as optional may be refused; what is not refused must be right.
void run_group(const json::Value& group, std::string_view dialect, Counts& counts, std::string& report,
               std::string_view file, bool optional) {
  const std::string description = group.find("description").string();
  const std::size_t tests = group.find("tests").size();
  if (const Skip* skip = skip_of(file, description)) {
    counts.skipped += tests;
    report += std::string(file) + ": " + description + ": " + std::string(skip->why) + '\n';
    return;
  }
  CAPTURE(file);
  CAPTURE(description);
  const auto text = json::read(with_dialect(group.find("schema"), dialect), {});
  REQUIRE(text);
  const auto schema = schema::Schema::compile(text->root());
  if (!schema && optional) {
    counts.skipped += tests;
    report += std::string(file) + ": " + description + ": refused: " + schema.error() + '\n';
    return;
  }
  if (!schema) {
    CAPTURE(schema.error());
    CHECK_MESSAGE(false, "the schema is not understood");
    return;
  }
  for (const json::Value test : group.find("tests").elements()) {
    const std::string name = test.find("description").string();
    CAPTURE(name);
    const schema::Finding finding = schema->check(test.find("data"), schema::Reading::exact);
    CHECK(finding.outcome != schema::Outcome::ambiguous);
    CHECK(finding.outcome != schema::Outcome::too_complex);
    CHECK((finding.outcome == schema::Outcome::fits) == test.find("valid").boolean());
    ++counts.passed;
  }
}

void run_suite(const std::filesystem::path& folder, std::string_view dialect, std::size_t at_least,
               bool optional = false) {
  if (!std::filesystem::is_directory(folder)) {
    const bool required = std::getenv("CI") != nullptr;
    CHECK_FALSE_MESSAGE(required, folder.string() << " is missing; ./dev setup installs it");
    MESSAGE(folder.string() << " is missing; ./dev setup installs it");
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  Counts counts;
  std::string report;
  for (const auto& file : files) {
    const auto groups = json::read(text_of(file), {});
    REQUIRE(groups);
    for (const json::Value group : groups->root().elements()) {
      run_group(group, dialect, counts, report, (optional ? "optional/" : "") + file.filename().string(), optional);
    }
  }
  std::printf("%s: %zu passed, %zu skipped\n%s", folder.c_str(), counts.passed, counts.skipped, report.c_str());
  CHECK(counts.passed >= at_least);
}

constexpr std::string_view kDraft07 = "http://json-schema.org/draft-07/schema#";
constexpr std::string_view k2020 = "https://json-schema.org/draft/2020-12/schema";

}  // namespace

const std::filesystem::path kDebian = "/usr/share/json-schema-test-suite/tests";
const std::filesystem::path kNewer = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests";

TEST_CASE("the official suite of draft-07") { run_suite(kDebian / "draft7", kDraft07, 400); }
TEST_CASE("the official suite of draft-07, a newer copy") { run_suite(kNewer / "draft7", kDraft07, 800); }
TEST_CASE("the official suite of 2020-12") { run_suite(kNewer / "draft2020-12", k2020, 1'100); }
TEST_CASE("the optional part of both") {
  run_suite(kNewer / "draft7/optional", kDraft07, 60, true);
  run_suite(kNewer / "draft2020-12/optional", k2020, 60, true);
}
