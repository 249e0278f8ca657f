// SPDX-License-Identifier: Apache-2.0
#include "app/init.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "app/wrap_names.hpp"
#include "clients/starter_policy.hpp"
#include "formats/policy_yaml.hpp"
#include "temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

policy::Policy made(const Caller& caller, const InitRequest& request) {
  const Result<NewPolicy> made = prepare_policy(caller, request);
  REQUIRE_MESSAGE(made.has_value(), (made ? std::string() : made.error().to_string()));
  INFO(made->text);
  const Result<policy::Policy> policy = formats::read_policy(made->text, "new.yaml");
  REQUIRE(policy.has_value());
  return *policy;
}

}  // namespace

TEST_CASE("a first policy holds the exact command, and grants no more than it names") {
  const TempFolder folder;
  const Caller caller = folder.caller();
  const std::string data = folder.folder("data");
  const std::string real = folder.folder("real");
  const std::string link = folder.link("link", real);
  const std::string file = folder.file("config.json", "{}");
  const std::string script = folder.file("server/index.js", "");
  const std::vector<std::string> command = {"node", script,       "--root=" + data, link,       "--config",
                                            file,   caller.home,  "/nowhere",       "a: b # c", "\"q\"",
                                            "-",    "tab\tline\n"};
  const policy::Policy policy =
      made(caller, {"one", command, {"MODE", "API_TOKEN", "PATH", "HOME", "bad name", "MODE"}, {}, {}});
  CHECK(policy.server == "one");
  CHECK(policy.launch.command == command);
  CHECK_FALSE(policy.launch.command_from_client);
  CHECK(policy.launch.pass == std::vector<std::string>{"MODE"});
  REQUIRE(policy.launch.secrets.size() == 1);
  CHECK(policy.launch.secrets.at("API_TOKEN").from == "API_TOKEN");
  CHECK(policy.isolation.runtime == std::vector<std::string>{"node"});
  REQUIRE(policy.isolation.read.size() == 3);
  CHECK(policy.isolation.read[0].path == data);
  CHECK(policy.isolation.read[1].path == real);
  CHECK(policy.isolation.read[1].at == link);
  CHECK(policy.isolation.read[2].path == file);
  CHECK(policy.isolation.write.empty());
  CHECK(policy.isolation.network == policy::Network{});
}

TEST_CASE("the runtime follows the interpreter") {
  const TempFolder folder;
  const Caller caller = folder.caller();
  const auto runtime = [&](const std::vector<std::string>& command) {
    return made(caller, {"r", command, {}, {}, {}}).isolation.runtime.at(0);
  };
  CHECK(runtime({"/opt/node/bin/node", "x.js"}) == "node");
  CHECK(runtime({"npx", "-y", "x"}) == "node");
  CHECK(runtime({"/venv/bin/python3.11", "-m", "x"}) == "python");
  CHECK(runtime({"uvx", "x"}) == "python");
  CHECK(runtime({"uv", "--directory", "/x", "run", "x"}) == "python");
  CHECK(runtime({"java", "-jar", "x.jar"}) == "java");
  CHECK(runtime({"npx", "@playwright/mcp@latest"}) == "browser");
  CHECK(runtime({"/opt/x/server"}) == "system");
  CHECK(runtime({"bash", "-c", "exec node x.js"}) == "node");
}

TEST_CASE("files that are named from a working directory are warned of") {
  const auto warned = [](const std::vector<std::string>& command) {
    const auto warnings = command_warnings({"p", command, {}, {}, {}});
    return std::ranges::any_of(warnings, [](const std::string& one) { return one.contains("relative path"); });
  };
  CHECK(warned({"node", "server.js", "data"}));
  CHECK(warned({"python3", "../x/server.py"}));
  CHECK_FALSE(warned({"node", "/opt/server.js", "data", "--name=a.js", "http://h/x.js"}));
  CHECK_FALSE(warned({"npx", "-y", "@a/b", "./data"}));
}

TEST_CASE("a file of the current directory that is named by a relative path is refused, with the path to write") {
  const TempFolder folder;
  const std::string file = folder.file("server.js", "");
  const std::string relative = std::filesystem::relative(file).string();
  REQUIRE(relative_file(relative));
  const Status refused = refuse_relative_files({"node", relative});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().remedy.find("write " + file) != std::string::npos);
  CHECK_FALSE(refuse_relative_files({relative}).has_value());
  CHECK(refuse_relative_files({file}).has_value());
  CHECK(refuse_relative_files({"node", file}).has_value());
  CHECK(refuse_relative_files({"node", "not-there.js"}).has_value());
  CHECK(refuse_relative_files({"npx", "-y", "p", relative}).has_value());
}

TEST_CASE("a command with placeholders is taken from the client, without secrets") {
  const TempFolder folder;
  const policy::Policy policy =
      made(folder.caller(), {"p", {"node", "${workspaceFolder}/x.js"}, {"API_KEY"}, "${workspaceFolder}/.env", {}});
  CHECK(policy.launch.command_from_client);
  CHECK(policy.launch.secrets.empty());
  CHECK(policy.launch.pass == std::vector<std::string>{"API_KEY"});
}

TEST_CASE("an image gets a container backend, its mounts and the names that are handed on") {
  const TempFolder folder;
  const std::string data = folder.folder("data");
  const policy::Policy policy = made(folder.caller(), {"i",
                                                       {"docker", "run", "-i", "-e", "GH_TOKEN", "-e", "A=b", "-v",
                                                        data + ":/data:ro", "x/y@sha256:" + std::string(64, 'a')},
                                                       {},
                                                       {},
                                                       {}});
  CHECK(policy.isolation.backend == policy::Backend::docker);
  const std::string text = prepare_policy(folder.caller(), {"i", {"docker", "run", "-i", "x/y:1"}, {}, {}, {}})->text;
  CHECK(text.find("The image that docker run starts is fetched once") != std::string::npos);
  CHECK(text.find("sandbox of its own") == std::string::npos);
  CHECK(policy.launch.secrets.contains("GH_TOKEN"));
  REQUIRE(policy.isolation.read.size() == 1);
  CHECK(policy.isolation.read[0].path == data);
}

TEST_CASE("what the command sets is set by the policy, and a secret there is warned of") {
  const TempFolder folder;
  Caller caller = folder.caller();
  const InitRequest request{"p", {"env", "MODE=a b", "API_KEY=k", "npx", "-y", "pkg"}, {"MODE", "OTHER"}, {}, {}};
  const policy::Policy policy = made(caller, request);
  CHECK(policy.launch.set == std::map<std::string, std::string>{{"API_KEY", "k"}, {"MODE", "a b"}});
  CHECK(policy.launch.pass == std::vector<std::string>{"OTHER"});
  CHECK(policy.launch.command == std::vector<std::string>{"pkg"});
  CHECK(std::ranges::any_of(command_warnings(request), [](const std::string& one) {
    return one.starts_with("API_KEY stands in clear") && !one.contains("\"k\"");
  }));
  // Before what a shipped policy sets.
  std::filesystem::create_directories(caller.share_folder());
  std::filesystem::copy(CORDON_SHIPPED_POLICIES, caller.share_folder() + "/policies",
                        std::filesystem::copy_options::recursive);
  const policy::Policy shipped = made(
      caller, {"m", {"env", "MEMORY_FILE_PATH=/x", "A=1", "npx", "@modelcontextprotocol/server-memory"}, {}, {}, {}});
  CHECK(shipped.launch.set == std::map<std::string, std::string>{{"A", "1"}, {"MEMORY_FILE_PATH", "/x"}});
}

TEST_CASE("a command that launch.source cannot stand for is told why") {
  const auto warned = [](const std::vector<std::string>& command, std::string_view text) {
    return std::ranges::any_of(command_warnings({"p", command, {}, {}, {}}),
                               [text](const std::string& one) { return one.contains(text); });
  };
  CHECK(warned({"npx", "--registry", "https://x.test", "pkg"}, "because of its option --registry"));
  CHECK(warned({"npx", "-y", "github:a/b"}, "because github:a/b is no package of a registry"));
  CHECK(warned({"uvx", "--python", "3.12", "pkg"}, "because of its option --python"));
}

TEST_CASE("what a command fetches behind another program is told, with the way out") {
  const auto told = [](const std::vector<std::string>& command, std::string_view text) {
    return std::ranges::any_of(command_warnings({"p", command, {}, {}, {}}),
                               [&](const std::string& one) { return one.find(text) != std::string::npos; });
  };
  CHECK(told({"timeout", "30", "npx", "-y", "pkg"}, "npx fetches pkg at every start"));
  CHECK(told({"timeout", "30", "npx", "-y", "pkg"}, "leave out what stands before npx"));
  CHECK(told({"bash", "-c", "cd /x && npx -y pkg"}, "{npm: \"pkg\"}"));
  CHECK(told({"sh", "-c", "npx -y pkg \"$@\""}, "npx fetches pkg at every start"));
  CHECK(told({"npx", "-y", "/opt/pkg"}, "it comes from no registry"));
  CHECK_FALSE(told({"env", "-S", "npx -y pkg"}, "at every start"));
  CHECK_FALSE(told({"timeout", "30", "node", "/x.js"}, "at every start"));
}

TEST_CASE("a known server gets the rules of its shipped policy") {
  const TempFolder folder;
  Caller caller = folder.caller();
  std::filesystem::create_directories(caller.share_folder());
  std::filesystem::copy(CORDON_SHIPPED_POLICIES, caller.share_folder() + "/policies",
                        std::filesystem::copy_options::recursive);
  for (const std::string name : {"everything", "filesystem", "memory", "sequential-thinking"}) {
    CAPTURE(name);
    std::ifstream file(caller.share_folder() + "/policies/" + name + ".yaml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Result<policy::Policy> shipped = formats::read_policy(text, "shipped.yaml");
    REQUIRE(shipped.has_value());
    const std::vector<std::string> command = {"npx", "-y", "@modelcontextprotocol/server-" + name + "@1.0.0"};
    const Result<NewPolicy> from = prepare_policy(caller, {"mine", command, {"MODE"}, {}, {}});
    REQUIRE(from.has_value());
    CHECK(from->shipped == name);
    const policy::Policy policy = made(caller, {"mine", command, {"MODE", "MEMORY_FILE_PATH"}, {}, {}});
    REQUIRE(policy.launch.source.has_value());
    CHECK(policy.launch.source->package == "@modelcontextprotocol/server-" + name);
    CHECK(policy.launch.source->version == "1.0.0");
    CHECK_FALSE(policy.launch.command_from_client);
    CHECK(policy.launch.set == shipped->launch.set);
    CHECK(policy.tools.rules.size() == shipped->tools.rules.size());
    CHECK(policy.catalog.drift == policy::Drift{});
    CHECK(policy.server == "mine");
    // What the client's config says of a variable that the shipped policy sets is not used, so it is told.
    const Result<NewPolicy> told = prepare_policy(caller, {"mine", command, {"MEMORY_FILE_PATH"}, {}, {}});
    REQUIRE(told.has_value());
    const bool said = std::ranges::any_of(told->warnings, [](const std::string& line) {
      return line.starts_with("the policy sets MEMORY_FILE_PATH itself");
    });
    CHECK(said == (name == "memory"));
  }
  CHECK(prepare_policy(caller, {"mine", {"npx", "@evil/server-filesystem"}, {}, {}, {}})->shipped.empty());
  CHECK(prepare_policy(
            caller, {"mine", {"node", "/x/node_modules/@modelcontextprotocol/server-memory/dist/index.js"}, {}, {}, {}})
            ->shipped == "memory");
}

TEST_CASE("what no policy can hold is refused, and nothing is overwritten") {
  const TempFolder folder;
  const Caller caller = folder.caller();
  CHECK_FALSE(prepare_policy(caller, {"../x", {"x"}, {}, {}, {}}).has_value());
  CHECK_FALSE(prepare_policy(caller, {"x", {}, {}, {}, {}}).has_value());
  CHECK_FALSE(prepare_policy(caller, {"x", {"server", "\u202E"}, {}, {}, {}}).has_value());
  const Result<NewPolicy> policy = prepare_policy(caller, {"x", {"server"}, {}, {}, {}});
  REQUIRE(policy.has_value());
  REQUIRE(store_policy(caller, *policy).has_value());
  CHECK_FALSE(store_policy(caller, *policy).has_value());
  CHECK(match_policy(caller, "x", {"server"}).fit == PolicyFit::same);
  CHECK(match_policy(caller, "x", {"server", ""}).fit == PolicyFit::other);
  CHECK_FALSE(name_is_free(caller, "x", {"server"}));
}

TEST_CASE("comments hold what strangers write without leaving their line") {
  clients::Starter starter;
  starter.server = "s";
  starter.command = {"x", "a\nversion: 2\n# "};
  starter.environment_file = "f\nlaunch: {}";
  const Result<policy::Policy> policy = formats::read_policy(clients::starter_policy(starter), "p.yaml");
  REQUIRE(policy.has_value());
  CHECK(policy->launch.command == starter.command);
}
