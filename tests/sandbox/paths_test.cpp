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
