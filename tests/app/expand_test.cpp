// SPDX-License-Identifier: Apache-2.0
#include "app/expand.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

TEST_CASE("a tilde stands for the caller's home, only at the beginning and alone") {
  CHECK(expand_home("~/a", "/home/u") == "/home/u/a");
  CHECK(expand_home("~", "/home/u") == "/home/u");
  CHECK(expand_home("/a/~/b", "/home/u") == "/a/~/b");
  CHECK_FALSE(expand_home("~other/a", "/home/u").has_value());
  CHECK_FALSE(expand_home("relative", "/home/u").has_value());
}

TEST_CASE("a program is found through PATH and its symlink followed") {
  const TempFolder temp;
  Caller caller = temp.caller();
  temp.file("opt/tool-1.2", "#!/bin/sh\n", 0755);
  temp.folder("bin");
  temp.link("bin/tool", temp.at("opt/tool-1.2"));
  caller.environment["PATH"] = temp.at("empty") + ":" + temp.at("bin");
  const Result<Program> found = find_program("tool", caller);
  REQUIRE(found.has_value());
  CHECK(found->path == temp.at("bin/tool"));
  CHECK(found->real == temp.at("opt/tool-1.2"));
}

TEST_CASE("relative PATH entries and relative commands never name a program") {
  const TempFolder temp;
  Caller caller = temp.caller();
  temp.file("here/tool", "#!/bin/sh\n", 0755);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(temp.at("here"));
  caller.environment["PATH"] = ".::";
  const Result<Program> bare = find_program("tool", caller);
  const Result<Program> relative = find_program("./tool", caller);
  std::filesystem::current_path(before);
  CHECK(bare.error().code == Errc::launch_failed);
  CHECK(relative.error().code == Errc::policy_invalid);
}

TEST_CASE("a file that cannot be executed and a folder are no programs") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  CHECK(find_program(temp.file("plain", "x", 0644), caller).error().code == Errc::launch_failed);
  CHECK(find_program(temp.folder("folder"), caller).error().code == Errc::launch_failed);
}
