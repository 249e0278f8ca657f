// SPDX-License-Identifier: Apache-2.0
#include "app/exposure.hpp"

#include <doctest/doctest.h>

using namespace cordon;
using namespace cordon::app;

TEST_CASE("a gap in the covers is named with its place and what it means") {
  sandbox::Plan plan;
  plan.guarantees = {{.name = "filesystem.steering", .strength = sandbox::Strength::partial, .reason = "symlink"}};
  const auto out = exposure_notices(plan, {{"symlink", "/p/CLAUDE.md"}, {"home", "/home/u"}});
  REQUIRE(out.size() == 2);
  CHECK(out[0] ==
        "write grant: '/p/CLAUDE.md': a symlink steers other programs and can be replaced by the server; grant less "
        "(symlink)");
  CHECK(out[1].find("home folder") != std::string::npos);
}

TEST_CASE("nothing is said where nothing is covered, and hostile names are escaped") {
  sandbox::Plan plan;
  CHECK(exposure_notices(plan, {{"symlink", "/p"}}).empty());
  plan.guarantees = {{.name = "filesystem.steering"}};
  CHECK(exposure_notices(plan, {}).empty());
  CHECK(exposure_notices(plan, {{"too_deep", "/p\x1b[2J"}})[0].find('\x1b') == std::string::npos);
}
