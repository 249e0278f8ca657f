// SPDX-License-Identifier: Apache-2.0
#include "formats/policy_yaml.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "formats/policy/support.hpp"

using namespace cordon::formats::test;
using cordon::formats::check_policy;
using cordon::formats::is_server_name;
using cordon::formats::read_policy;
using cordon::policy::AuditArguments;
using cordon::policy::Messages;
using cordon::policy::Policy;
namespace policy = cordon::policy;

namespace {

std::string data(const std::string& name) {
  std::ifstream file(std::string(CORDON_TEST_DATA) + "/" + name, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the least policy is three lines and takes every default") {
  const Policy policy = accept("");
  Policy expected;
  expected.server = "s";
  expected.file = "p";
  expected.launch.command = {"node"};
  expected.launch.position = {3, 1};
  expected.tools.file = "p";
  CHECK(policy == expected);
}

TEST_CASE("sample policies are accepted") {
  for (const std::string name : {"filesystem.yaml", "issues.yaml", "explicit.yaml"}) {
    CAPTURE(name);
    const std::string text = data(name);
    for (const auto& error : check_policy(text, name)) {
      FAIL_CHECK(error.to_string());
    }
    CHECK(read_policy(text, name).has_value());
  }
}

TEST_CASE("a policy with every default written out equals the least one") {
  auto explicit_policy = read_policy(data("explicit.yaml"), "p");
  REQUIRE(explicit_policy.has_value());
  Policy least = accept("");
  least.launch.position = explicit_policy->launch.position;
  least.isolation.position = explicit_policy->isolation.position;
  least.prompts.position = explicit_policy->prompts.position;
  least.resources.position = explicit_policy->resources.position;
  least.resources.templates_position = explicit_policy->resources.templates_position;
  least.tools.effect_positions = explicit_policy->tools.effect_positions;
  CHECK(*explicit_policy == least);
}

TEST_CASE("the policy in the format document is accepted") {
  const std::string document = data("../../../docs/formats/policy.md");
  const std::string fence = "```yaml\n";
  const std::size_t begin = document.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = document.find("```\n", begin + fence.size());
  REQUIRE(end != std::string::npos);
  CHECK(faults_of(document.substr(begin + fence.size(), end - begin - fence.size())).empty());
}

TEST_CASE("the format document names every key that is read, and every one that is refused for now") {
  const std::string document = data("../../../docs/formats/policy.md");
  for (const std::string key : {"version",
                                "server",
                                "launch",
                                "isolation",
                                "instances",
                                "catalog",
                                "tools",
                                "client_requests",
                                "elicitation_hosts",
                                "messages",
                                "audit",
                                "prompts",
                                "resources",
                                "results",
                                "command",
                                "command_from_client",
                                "cwd",
                                "home",
                                "environment",
                                "stderr",
                                "source",
                                "pass",
                                "set",
                                "secrets",
                                "from_env",
                                "from_file",
                                "from_command",
                                "backend",
                                "require",
                                "filesystem",
                                "runtime",
                                "read",
                                "write",
                                "deny",
                                "network",
                                "unix_sockets",
                                "proc",
                                "nested_userns",
                                "user",
                                "limits",
                                "memory",
                                "processes",
                                "open_files",
                                "file_size",
                                "cpu_seconds",
                                "syscalls",
                                "reason",
                                "snapshot",
                                "missing",
                                "drift",
                                "added",
                                "changed",
                                "removed",
                                "cosmetic",
                                "instructions",
                                "identity",
                                "capabilities",
                                "accept_unattended",
                                "trusted_keys",
                                "variables",
                                "dynamic",
                                "max_pages",
                                "max_tools",
                                "max_bytes",
                                "effects",
                                "annotations",
                                "schema",
                                "confirm",
                                "rules",
                                "arguments",
                                "when",
                                "calls_per_minute",
                                "calls_in_flight",
                                "hidden_text",
                                "terminal_escapes",
                                "answer_timeout_seconds"}) {
    CAPTURE(key);
    CHECK((document.find("`" + key + "`") != std::string::npos || document.find("." + key + "`") != std::string::npos));
  }
}

TEST_CASE("every fault of a file is reported at once, in its order") {
  std::string found;
  for (const auto& error : check_policy(data("faulty.yaml"), "faulty.yaml")) {
    found += error.to_string() + "\n";
  }
  CHECK(found == data("faulty.expected"));
  const auto first = read_policy(data("faulty.yaml"), "faulty.yaml");
  REQUIRE_FALSE(first.has_value());
  CHECK(found.starts_with(first.error().to_string() + "\n"));
}

TEST_CASE("a misspelt key names the nearest right spelling") {
  const auto errors =
      check_policy(policy_with("tools:\n  effects:\n    alow: read\n    sennd: allow\n"), "policy.yaml");
  REQUIRE(errors.size() == 2);
  CHECK(errors[1].to_string() == "policy.yaml:7:5: unknown key 'sennd' (did you mean 'send'?)");
  CHECK(errors[0].to_string() ==
        "policy.yaml:6:5: unknown key 'alow' (known here: read, write, destructive, execute, send, unknown)");
}

TEST_CASE("a file of another version has one fault") {
  CHECK(faults_of("version: 2\nserver: [x]\nnew_key: 1\n") ==
        "1:10: policy version 2 is not supported by this version");
  CHECK(faults_of("version: \"1\"\nserver: s\nlaunch: {command: [a]}\n") ==
        "1:10: version must be a whole number, not '1' in quotes");
  CHECK(faults_of("server: s\nlaunch: {command: [a]}\n") == "1:1: version is missing");
}

TEST_CASE("what must be there is missed") {
  CHECK(faults_of("version: 1\n") == "1:1: server is missing\n1:1: launch is missing");
  CHECK(faults_of("") == "1:1: a policy must be a mapping of keys to values, not nothing");
  CHECK(faults_of("# only a comment\n") == "1:1: a policy must be a mapping of keys to values, not nothing");
  CHECK(faults_of("- a\n") == "1:1: a policy must be a mapping of keys to values, not a list");
}

TEST_CASE("a text that is no YAML has one fault") {
  CHECK(faults_of("version: 1\nversion: 1\n") == "2:1: duplicate key 'version' (first in line 1)");
  CHECK(faults("tools: &x {}\n") == "4:8: an anchor (&name)");
}

TEST_CASE("sections of later versions are refused at their key") {
  CHECK(accept("instances: per-session\n").server == "s");
  for (const std::string word : {"shared", "per-profile", "exclusive"}) {
    CHECK(faults("instances: " + word + "\n") == "4:12: instances: " + word + " is not supported by this version");
  }
  CHECK(faults("instances: many\n") == "4:12: instances must be per-session, not 'many'");
}

TEST_CASE("client requests read, with their defaults") {
  using Roots = policy::ClientRequests::Roots;
  const policy::ClientRequests standard = accept("").client_requests;
  CHECK(standard.sampling == policy::Action::block);
  CHECK(standard.elicitation == policy::Action::flag);
  CHECK(standard.roots == Roots::policy);
  const policy::ClientRequests given = accept(
                                           "client_requests: {sampling: allow, elicitation: block, roots: flag, "
                                           "elicitation_hosts: [Login.example.org, \"*.id.example\"]}\n")
                                           .client_requests;
  CHECK(given.sampling == policy::Action::allow);
  CHECK(given.elicitation == policy::Action::block);
  CHECK(given.roots == Roots::flag);
  CHECK(given.elicitation_hosts == std::vector<std::string>{"login.example.org", "*.id.example"});
  CHECK(accept("client_requests: {sampling: flag, roots: block}\n").client_requests.roots == Roots::block);
  CHECK(faults("client_requests: {samplng: block}\n") == "4:19: unknown key 'samplng'");
  CHECK(faults("client_requests: {sampling: confirm}\n") ==
        "4:29: client_requests.sampling must be one of allow, flag, block, not 'confirm'");
  CHECK(faults("client_requests: {roots: hide}\n") ==
        "4:26: client_requests.roots must be one of policy, allow, flag, block, not 'hide'");
  for (const char* host : {"\"https://a.example\"", "\"a.example:443\"", "\"*.com\"", "\"*\"", "\"a b\"", "\"\""}) {
    CHECK(faults(std::string("client_requests: {elicitation_hosts: [") + host + "]}\n") != "");
  }
}

TEST_CASE("message limits read, and stay below what clients bear") {
  const Messages messages =
      accept("messages: {max_bytes: 1MB, max_depth: 64, in_flight: 8, answer_timeout_seconds: 0}\n").messages;
  CHECK(messages.max_bytes == 1'000'000);
  CHECK(messages.max_depth == 64);
  CHECK(messages.in_flight == 8);
  CHECK(faults("messages: {max_bytes: 10MiB}\n") ==
        "4:23: messages.max_bytes must lie between 1000 and 10000000, not 10485760");
  CHECK(faults("messages: {max_depth: 1000}\n") == "4:23: messages.max_depth must lie between 16 and 512, not 1000");
  CHECK(faults("messages: {in_flight: 0}\n") == "4:23: messages.in_flight must lie between 1 and 10000, not 0");
  CHECK(accept("messages: {answer_timeout_seconds: 30}\n").messages.answer_timeout_seconds == 30);
  CHECK(faults("messages: {answer_timeout_seconds: 86401}\n") ==
        "4:36: messages.answer_timeout_seconds must lie between 0 and 86400, not 86401");
}

TEST_CASE("audit of arguments reads") {
  CHECK(accept("audit: {arguments: full}\n").audit_arguments == AuditArguments::full);
  CHECK(accept("audit: {arguments: none}\n").audit_arguments == AuditArguments::none);
  CHECK(faults("audit: {arguments: ful}\n") == "4:20: audit.arguments must be one of digest, full, none, not 'ful'");
  CHECK(faults("audit: {args: full}\n") == "4:9: unknown key 'args'");
}

TEST_CASE("server names are plain") {
  for (const std::string_view name : {"a", "A9", "file-system_2.x", "0"}) {
    CHECK(is_server_name(name));
  }
  CHECK(is_server_name(std::string(64, 'a')));
  for (const std::string_view name : {"", ".a", "-a", "_a", "a/b", "a b", "é", "../x", "a\n"}) {
    CHECK_FALSE(is_server_name(name));
  }
  CHECK_FALSE(is_server_name(std::string(65, 'a')));
  CHECK(faults_of("version: 1\nserver: a/b\nlaunch: {command: [x]}\n") == "2:9: no name for a server: 'a/b'");
  CHECK(faults_of("version: 1\nserver: 7\nlaunch: {command: [x]}\n") ==
        "2:9: server must be a string, but '7' without quotes is a number");
}

TEST_CASE("hostile text in a fault is printable") {
  const auto errors = check_policy(policy_with("\"a\\nb\\tc\": 1\n"), "x\x1b[31m.yaml");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].detail == "unknown key 'a\\nb\\tc'");
  CHECK(errors[0].where == "x\\x1b[31m.yaml:4:1");
  const auto longest = check_policy(policy_with(std::string(10'000, 'k') + ": 1\n"), "p");
  REQUIRE(longest.size() == 1);
  CHECK(longest[0].detail.size() < 120);
}

TEST_CASE("a file with very many faults gets a bounded answer") {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text += "key" + std::to_string(i) + ": 1\n";
  }
  const auto errors = check_policy(policy_with(text), "p");
  REQUIRE(errors.size() == 101);
  CHECK(errors.back().detail == "1900 more faults from here on");
}
