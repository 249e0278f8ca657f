// SPDX-License-Identifier: Apache-2.0
#include "sandbox/paths.hpp"

#include <doctest/doctest.h>

using namespace cordon::sandbox;

TEST_CASE("a path has one spelling") {
  for (const char* path : {"/", "/a", "/a/b.c", "/a/..b", "/a/ b"}) {
    CHECK_MESSAGE(is_normal_path(path), path);
  }
  for (const char* path : {"", "a", "a/b", "//", "/a/", "/a//b", "/a/./b", "/a/..", "/.", "/.."}) {
    CHECK_MESSAGE(!is_normal_path(path), path);
  }
  CHECK(!is_normal_path(std::string_view("/a\0b", 4)));
}

TEST_CASE("being within ends at a slash") {
  CHECK(is_within("/a", "/a"));
  CHECK(is_within("/a/b", "/a"));
  CHECK(is_within("/a", "/"));
  CHECK(!is_within("/ab", "/a"));
  CHECK(!is_within("/a", "/a/b"));
}

TEST_CASE("parents and last components") {
  CHECK(parent_path("/a/b") == "/a");
  CHECK(parent_path("/a") == "/");
  CHECK(parent_path("/") == "/");
  CHECK(last_component("/a/b") == "b");
}

TEST_CASE("rebasing moves a path to another folder") {
  CHECK(rebase("/a/b/c", "/a", "/x") == "/x/b/c");
  CHECK(rebase("/a", "/a", "/x") == "/x");
  CHECK(rebase("/a/b", "/", "/x") == "/x/a/b");
  CHECK(rebase("/a/b", "/a", "/") == "/b");
  CHECK(rebase("/a", "/a", "/") == "/");
}

TEST_CASE("names of files are found in the words of a command") {
  const auto names = [](std::string_view word) {
    std::string out;
    for (const std::string_view name : names_in_word(word)) {
      out += std::string(out.empty() ? "" : " ") + std::string(name);
    }
    return out;
  };
  CHECK(names("/a/b.js") == "/a/b.js");
  CHECK(names("--config=/a/b") == "/a/b");
  CHECK(names("lib/a.jar:/b.jar").find("/b.jar") != std::string::npos);
  CHECK(names("-javaagent:/a.jar=on").find("/a.jar") != std::string::npos);
  CHECK(names("@/a/args").find("/a/args") != std::string::npos);
  CHECK(names("-r/a/b.js").find("/a/b.js") != std::string::npos);
  // Not "///data/app.db" and not "//x".
  CHECK(names("sqlite:///data/app.db") == "sqlite:///data/app.db");
  CHECK(names("--url=http://x/y").find(" //x") == std::string::npos);
}
