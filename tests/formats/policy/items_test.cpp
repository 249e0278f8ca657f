// SPDX-License-Identifier: Apache-2.0
#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::policy::Action;
using cordon::policy::Policy;

TEST_CASE("prompts and resources read into the policy") {
  const Policy policy = accept(
      "catalog: {dynamic: [\"file:///data/*\"]}\n"
      "prompts: {default: flag}\n"
      "resources:\n"
      "  default: block\n"
      "  templates: allow\n"
      "  rules:\n"
      "    - uris: [\"demo://a/*\", \"demo://b\"]\n"
      "      action: hide\n");
  CHECK(policy.prompts.standard == Action::flag);
  CHECK(policy.resources.standard == Action::block);
  CHECK(policy.resources.templates == Action::allow);
  REQUIRE(policy.resources.rules.size() == 1);
  CHECK(policy.resources.rules[0].uris == std::vector<std::string>{"demo://a/*", "demo://b"});
  CHECK(policy.resources.rules[0].action == Action::hide);
  CHECK(policy.catalog.dynamic == std::vector<std::string>{"file:///data/*"});
}

TEST_CASE("without them the defaults of the contract hold") {
  const Policy policy = accept("");
  CHECK(policy.prompts.standard == Action::allow);
  CHECK(policy.resources.standard == Action::allow);
  CHECK(policy.resources.templates == Action::block);
  CHECK(policy.catalog.dynamic.empty());
}

TEST_CASE("faults of prompts and resources") {
  CHECK(faults("prompts: {default: confirm}\n") ==
        "4:20: prompts.default must be one of allow, flag, block, hide, not 'confirm'");
  CHECK(faults("resources: {rules: [{action: block}]}\n") == "4:21: a rule names no URIs");
  CHECK(faults("resources: {rules: [{uris: [\"a:*\"]}]}\n") == "4:21: a rule has no action");
  CHECK(faults("resources: {rules: [{uris: [], action: block}]}\n").starts_with("4:28: uris of a rule"));
  CHECK(faults("catalog: {dynamic: [\"a:{b,c}\"]}\n") == "4:21: only * and ? are special in a glob: 'a:{b,c}'");
  CHECK(faults("catalog: {dynamic: [\"a:*\", \"a:*\"]}\n") == "4:28: the glob 'a:*' stands twice in catalog.dynamic");
  CHECK(faults("resources: {rules: [{uris: [\"*\"], action: block}, {uris: [\"a:*\"], action: allow}]}\n") ==
        "4:51: the rule can never decide: earlier rules take all its URIs");
  CHECK(faults("resources: {rules: [{uris: [\"a:*\"], action: allow}, {uris: [\"a:x*\"], action: block}]}\n") ==
        "4:53: the rule can never decide: earlier rules take all its URIs");
  CHECK(faults("resources: {rules: [{uris: [\"a:x*\"], action: block}, {uris: [\"a:*\"], action: allow}]}\n").empty());
}

TEST_CASE("trusted keys are public keys of SSH, one a line") {
  const std::string key = "AAAAC3NzaC1lZDI1NTE5AAAAIPjhyQZyXyQ7l2tdtKKCiYyhAyi7EhVYmPYwWnWuKVUP";
  CHECK(accept("catalog: {trusted_keys: [\"ssh-ed25519 " + key + " me@here\"]}\n").catalog.trusted_keys ==
        std::vector<std::string>{"ssh-ed25519 " + key});
  for (const std::string& bad : std::vector<std::string>{"ssh-ed25519", "ssh-ed25519 x", "ssh-dss " + key,
                                                         "* namespaces=\\\"git\\\" " + key, key}) {
    CAPTURE(bad);
    CHECK(faults("catalog: {trusted_keys: [\"" + bad + "\"]}\n").find("no public key of SSH") != std::string::npos);
  }
}

TEST_CASE("variables have a kind, an argument, or a pattern with a reason") {
  using cordon::policy::Variable;
  const auto variables = accept(
                             "catalog: {variables: {root: {argument: 2}, today: date, home: home, build: {pattern: "
                             "\"b-*\", reason: \"x\"}}}\n")
                             .catalog.variables;
  REQUIRE(variables.size() == 4);
  CHECK(variables.at("root").kind == Variable::Kind::argument);
  CHECK(variables.at("root").argument == 2);
  CHECK(variables.at("today").kind == Variable::Kind::date);
  CHECK(variables.at("home").kind == Variable::Kind::home);
  CHECK(variables.at("build").pattern == "b-*");
  const auto fault = [](std::string_view text) {
    return faults("catalog: {variables: {" + std::string(text) + "}}\n");
  };
  CHECK(accept("catalog: {variables: {x: roots}}\n").catalog.variables.at("x").kind == Variable::Kind::roots);
  CHECK(fault("x: word").starts_with("4:26: catalog.variables.x must be one of path, date"));
  CHECK(fault("X: path") == "4:23: no name for a variable: 'X'");
  CHECK(fault("x: {}") == "4:26: catalog.variables.x needs either argument or pattern");
  CHECK(fault("x: {argument: 1, pattern: \"*\"}") == "4:26: catalog.variables.x needs either argument or pattern");
  CHECK(fault("x: {pattern: \"*\"}") == "4:27: catalog.variables.x has a pattern of its own without a reason");
  CHECK(fault("x: {argument: 0}").find("argument") != std::string::npos);
}
