// SPDX-License-Identifier: Apache-2.0
#include "app/paths.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"

using namespace cordon::app;

TEST_CASE("a path is normalised without leaving the root") {
  CHECK(normalised("/a//b/./c/") == "/a/b/c");
  CHECK(normalised("/a/../../b") == "/b");
  CHECK(normalised("/") == "/");
  CHECK(normalised("///") == "/");
}

TEST_CASE("a folder contains itself and what lies below it, not what merely begins alike") {
  CHECK(is_within("/data", "/data"));
  CHECK(is_within("/data/x", "/data"));
  CHECK_FALSE(is_within("/database", "/data"));
  CHECK_FALSE(is_within("/", "/data"));
  CHECK(is_within("/data", "/"));
}

TEST_CASE("a path moves from one folder to another") {
  CHECK(rebased("/home/u/proj/a", "/home/u/proj", "/data") == "/data/a");
  CHECK(rebased("/home/u/proj", "/home/u/proj", "/data") == "/data");
  CHECK(rebased("/x", "/", "/outside") == "/outside/x");
}

TEST_CASE("a path that does not exist yet is resolved as far as it does") {
  const TempFolder temp;
  temp.folder("real");
  temp.link("link", temp.at("real"));
  CHECK(resolved(temp.at("link/later/file")) == temp.at("real/later/file"));
}
