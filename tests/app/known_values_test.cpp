// SPDX-License-Identifier: Apache-2.0
#include "app/known_values.hpp"

#include <doctest/doctest.h>

using namespace cordon;
using namespace cordon::app;

TEST_CASE("variables of known kinds have the values that the server sees; what the launch lacks has none") {
  using Kind = policy::Variable::Kind;
  policy::Policy policy;
  policy.catalog.variables = {{"a", {.kind = Kind::roots}},
                              {"b", {.kind = Kind::roots}},
                              {"c", {.kind = Kind::roots}},
                              {"day", {.kind = Kind::date}},
                              {"first", {.kind = Kind::argument, .argument = 1}},
                              {"home", {.kind = Kind::home}},
                              {"second", {.kind = Kind::argument, .argument = 2}},
                              {"where", {.kind = Kind::cwd}}};
  PreparedLaunch launch;
  launch.spec.mounts = {{.source = "/outside/x", .target = "/data"}, {.source = "/srv", .target = "/srv"}};
  launch.spec.environment = {"PATH=/bin", "HOME=/home/cordon"};
  launch.fingerprint.command = {"node", "index.js"};
  CHECK(known_values(policy, launch) ==
        std::map<std::string, std::string>{
            {"a", "/data"}, {"b", "/srv"}, {"first", "index.js"}, {"home", "/home/cordon"}, {"where", "/home/cordon"}});
}

TEST_CASE("the folder of a package is none of the policy's") {
  policy::Policy policy;
  policy.catalog.variables = {{"a", {.kind = policy::Variable::Kind::roots}}};
  PreparedLaunch launch;
  launch.package_tree = "/usr";
  launch.spec.mounts = {{.source = "/usr", .target = "/usr"}, {.source = "/tmp", .target = "/work"}};
  CHECK(granted_folders(launch) == std::vector<std::string>{"/work"});
  CHECK(known_values(policy, launch) == std::map<std::string, std::string>{{"a", "/work"}});
}
