// SPDX-License-Identifier: Apache-2.0
#include "core/policy/match.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/policy/evaluate.hpp"

using cordon::policy::glob_covers;
using cordon::policy::glob_match;

TEST_CASE("a glob without wildcards matches exactly itself") {
  CHECK(glob_match("read_file", "read_file"));
  CHECK_FALSE(glob_match("read_file", "read_files"));
  CHECK_FALSE(glob_match("read_file", "read_fil"));
  CHECK_FALSE(glob_match("read_file", "xread_file"));
  CHECK_FALSE(glob_match("read_file", "Read_file"));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_match("", ""));
}

TEST_CASE("a star takes any run, also none") {
  CHECK(glob_match("*", ""));
  CHECK(glob_match("*", "anything at all"));
  CHECK(glob_match("edit_*", "edit_"));
  CHECK(glob_match("edit_*", "edit_file"));
  CHECK_FALSE(glob_match("edit_*", "edit"));
  CHECK(glob_match("*_file", "a_file_file"));
  CHECK(glob_match("a*b*c", "aXbXbXc"));
  CHECK_FALSE(glob_match("a*b*c", "acb"));
  CHECK(glob_match("**", "x"));
  CHECK(glob_match("*ab", "aab"));
}

TEST_CASE("a question mark takes one character, not one byte") {
  CHECK(glob_match("?", "a"));
  CHECK(glob_match("?", "é"));
  CHECK(glob_match("?", "😀"));
  CHECK_FALSE(glob_match("??", "é"));
  CHECK_FALSE(glob_match("?", ""));
  CHECK_FALSE(glob_match("?", "ab"));
  CHECK(glob_match("*?", "é"));
  CHECK_FALSE(glob_match("?*?", "é"));
  CHECK(glob_match("?*?", "éa"));
}

TEST_CASE("a byte that is no UTF-8 counts as one character") {
  CHECK(glob_match("?", "\xFF"));
  CHECK(glob_match("a*", "a\xC3"));
  CHECK_FALSE(glob_match("?", "\xC3\xFF"));
}

TEST_CASE("brackets and backslashes in a name are plain characters") {
  CHECK(glob_match("a[b]", "a[b]"));
  CHECK_FALSE(glob_match("a[b]", "ab"));
  CHECK(glob_match("a\\*", "a\\x"));
}

TEST_CASE("a star in a name is no wildcard") {
  CHECK_FALSE(glob_match("ab", "*"));
  CHECK(glob_match("?", "*"));
}

TEST_CASE("many stars against a long name stay cheap") {
  std::string glob;
  for (int i = 0; i < 64; ++i) {
    glob += "*a";
  }
  glob += "b";
  // Naive backtracking would take longer than the age of the universe here.
  CHECK_FALSE(glob_match(glob, std::string(4096, 'a')));
}

TEST_CASE("a glob covers what it certainly contains") {
  CHECK(glob_covers("*", "x"));
  CHECK(glob_covers("*", "*"));
  CHECK(glob_covers("*", "a?b*"));
  CHECK(glob_covers("read_*", "read_file"));
  CHECK(glob_covers("read_*", "read_*_x"));
  CHECK(glob_covers("read_*", "read_?"));
  CHECK(glob_covers("a?c", "abc"));
  CHECK(glob_covers("a?c", "a?c"));
  CHECK(glob_covers("same", "same"));
}

TEST_CASE("a glob does not cover what it may miss") {
  CHECK_FALSE(glob_covers("read_*", "*"));
  CHECK_FALSE(glob_covers("?", "*"));
  CHECK_FALSE(glob_covers("a?c", "a*c"));
  CHECK_FALSE(glob_covers("abc", "a?c"));
  CHECK_FALSE(glob_covers("abc", "ab"));
  CHECK_FALSE(glob_covers("*_x", "read_*"));
}

namespace {

// All texts over `letters` up to `length` characters.
std::vector<std::string> all_texts(std::string_view letters, std::size_t length) {
  std::vector<std::string> texts = {""};
  for (std::size_t begin = 0, round = 0; round < length; ++round) {
    const std::size_t end = texts.size();
    for (; begin < end; ++begin) {
      for (const char letter : letters) {
        texts.push_back(texts[begin] + letter);
      }
    }
  }
  return texts;
}

bool slow_match(std::string_view glob, std::string_view name) {
  if (glob.empty()) {
    return name.empty();
  }
  if (glob.front() == '*') {
    return slow_match(glob.substr(1), name) || (!name.empty() && slow_match(glob, name.substr(1)));
  }
  return !name.empty() && (glob.front() == '?' || glob.front() == name.front()) &&
         slow_match(glob.substr(1), name.substr(1));
}

}  // namespace

TEST_CASE("on all short globs and names the match equals the textbook definition") {
  const std::vector<std::string> globs = all_texts("ab*?", 4);
  const std::vector<std::string> names = all_texts("ab", 5);
  int differing = 0;
  for (const std::string& glob : globs) {
    for (const std::string& name : names) {
      differing += glob_match(glob, name) == slow_match(glob, name) ? 0 : 1;
    }
  }
  CHECK(differing == 0);
}

TEST_CASE("on all short globs, covering implies matching every name of the other") {
  const std::vector<std::string> globs = all_texts("a*?", 3);
  const std::vector<std::string> names = all_texts("ab", 4);
  int wrong = 0;
  for (const std::string& general : globs) {
    for (const std::string& special : globs) {
      if (!glob_covers(general, special)) {
        continue;
      }
      for (const std::string& name : names) {
        wrong += glob_match(special, name) && !glob_match(general, name) ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}
