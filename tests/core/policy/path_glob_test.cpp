// SPDX-License-Identifier: Apache-2.0
#include "core/policy/path_glob.hpp"

#include <doctest/doctest.h>

#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

using namespace cordon;
using policy::path_admitted;

TEST_CASE("who may have a folder may have what is in it, and nothing that only begins alike") {
  CHECK(path_admitted("/data", "/data"));
  CHECK(path_admitted("/data", "/data/a/b"));
  CHECK_FALSE(path_admitted("/data", "/database"));
  CHECK_FALSE(path_admitted("/data", "/dat"));
  CHECK_FALSE(path_admitted("/data", "/"));
  CHECK_FALSE(path_admitted("/data/a", "/data"));
  CHECK(path_admitted("/", "/"));
  CHECK(path_admitted("/", "/data"));
}

TEST_CASE("* and ? stay within a component, ** does not") {
  CHECK(path_admitted("/srv/*", "/srv/a"));
  CHECK(path_admitted("/srv/*", "/srv/.hidden"));
  CHECK(path_admitted("/srv/*", "/srv/a/b"));
  CHECK_FALSE(path_admitted("/srv/*", "/srv"));
  CHECK(path_admitted("/srv/*/out", "/srv/a/out"));
  CHECK_FALSE(path_admitted("/srv/*/out", "/srv/a/b/out"));
  CHECK(path_admitted("/srv/**/out", "/srv/out"));
  CHECK(path_admitted("/srv/**/out", "/srv/a/b/out/c"));
  CHECK_FALSE(path_admitted("/srv/**/out", "/srv/a/b/outer"));
  CHECK(path_admitted("/srv/**", "/srv"));
  CHECK_FALSE(path_admitted("/srv/**", "/srvx"));
  CHECK(path_admitted("/srv/a?", "/srv/ab"));
  CHECK_FALSE(path_admitted("/srv/a?", "/srv/a"));
  CHECK(path_admitted("/srv/pre*post", "/srv/pre-x-post"));
}

TEST_CASE("in the path that is asked for no character is special") {
  CHECK_FALSE(path_admitted("/srv/a", "/srv/*"));
  CHECK_FALSE(path_admitted("/srv/a/b", "/srv/**"));
  CHECK(path_admitted("/srv/*", "/srv/**"));
}

namespace {

// The glob as a regular expression over the whole path: another way to say the same.
std::regex as_regex(std::string_view glob) {
  std::string out;
  for (const std::string_view part : text::split(glob, '/')) {
    if (part.empty()) {
      continue;
    }
    if (part == "**") {
      out += "(/[^/]+)*";
      continue;
    }
    out += "/(?=[^/])";  // a component is never empty
    for (const char c : part) {
      out += c == '*' ? std::string("[^/]*") : c == '?' ? std::string("[^/]") : std::string(1, c);
    }
  }
  return std::regex(out + "(/[^/]+)*/?");
}

std::string random_path(std::mt19937& random, const std::vector<std::string>& parts, std::size_t most) {
  std::string out;
  for (std::size_t i = random() % (most + 1); i > 0; --i) {
    out += "/" + parts[random() % parts.size()];
  }
  return out.empty() ? "/" : out;
}

}  // namespace

TEST_CASE("random globs against random paths: as a regular expression says, and downwards closed") {
  std::mt19937 random(20261129);
  const std::vector<std::string> of_globs = {"a", "b", "ab", "*", "**", "?", "a*", "*b", "a?", "?*"};
  const std::vector<std::string> of_paths = {"a", "b", "ab", "ba", "aab", "bb"};
  int admitted = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string glob = random_path(random, of_globs, 5);
    const std::string path = random_path(random, of_paths, 5);
    CAPTURE(glob);
    CAPTURE(path);
    const bool expected = std::regex_match(path, as_regex(glob));
    REQUIRE(path_admitted(glob, path) == expected);
    admitted += expected ? 1 : 0;
    if (expected) {
      REQUIRE(path_admitted(glob, path == "/" ? "/b" : path + "/b"));
    }
  }
  // Both answers were met often.
  CHECK(admitted > 2'000);
  CHECK(admitted < 18'000);
}
