// SPDX-License-Identifier: Apache-2.0
#include "app/exposure.hpp"

#include <doctest/doctest.h>

#include "app/temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

TEST_CASE("a write grant that holds what other programs run is named, with what it holds") {
  const TempFolder temp;
  policy::Policy policy;
  temp.folder("proj/.git/hooks");
  temp.file("proj/.mcp.json", "");
  temp.folder("data");
  policy.isolation.write = {{temp.folder("data"), "", "", {}}, {temp.at("proj"), "", "", {}}};
  policy.isolation.read = {{temp.at("proj"), "", "", {}}};
  const std::vector<std::string> out = exposure_notices(policy, temp.caller());
  REQUIRE(out.size() == 1);
  CHECK(out[0].starts_with("the server may write .git, .mcp.json in '" + temp.at("proj") + "'"));
}

TEST_CASE("a write grant of the home folder, or above it, is named") {
  const TempFolder temp;
  policy::Policy policy;
  policy.isolation.write = {{temp.path(), "", "why", {}}};
  const std::vector<std::string> out = exposure_notices(policy, temp.caller());
  REQUIRE(out.size() == 1);
  CHECK(out[0].find("the home folder") != std::string::npos);
}
