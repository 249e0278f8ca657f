// SPDX-License-Identifier: Apache-2.0
#include "app/told_launches.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

TEST_CASE("a launch that is not the reviewed one is told once, until it is another") {
  const TempFolder temp;
  const Caller caller = temp.caller();
  catalog::LaunchFingerprint launch{.command = {"node", "a.js"}, .executable = "sha256:1"};
  CHECK(first_told(caller, "/p.yaml", "sha256:s", launch));
  CHECK_FALSE(first_told(caller, "/p.yaml", "sha256:s", launch));
  CHECK(first_told(caller, "/q.yaml", "sha256:s", launch));
  CHECK(first_told(caller, "/p.yaml", "sha256:t", launch));
  launch.executable = "sha256:2";
  CHECK(first_told(caller, "/p.yaml", "sha256:s", launch));
  CHECK_FALSE(first_told(caller, "/p.yaml", "sha256:s", launch));
  // Two clients, each with a command of its own, do not make each other new.
  launch.executable = "sha256:1";
  CHECK_FALSE(first_told(caller, "/p.yaml", "sha256:s", launch));
}

TEST_CASE("where nothing can be remembered, it is told each time; the file does not grow without end") {
  const TempFolder temp;
  Caller caller = temp.caller();
  catalog::LaunchFingerprint launch{.command = {"node"}};
  for (int i = 0; i < 40; ++i) {
    launch.executable = std::to_string(i);
    CHECK(first_told(caller, "/p.yaml", "", launch));
  }
  launch.executable = "0";
  CHECK(first_told(caller, "/p.yaml", "", launch));
  caller.state_home = temp.file("no-folder", "");
  CHECK(first_told(caller, "/p.yaml", "", launch));
  CHECK(first_told(caller, "/p.yaml", "", launch));
}
