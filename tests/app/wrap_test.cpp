// SPDX-License-Identifier: Apache-2.0
#include "app/wrap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "app/inventory.hpp"
#include "app/wrap_names.hpp"
#include "app/wrap_report.hpp"
#include "temp_folder.hpp"

using namespace cordon;
using namespace cordon::app;

namespace {

struct Setup {
  TempFolder folder = {};
  Caller caller = folder.caller();

  std::vector<ConfigFile> configs() const {
    clients::Folders folders;
    folders.home = caller.home;
    folders.config = {caller.config_home};
    folders.project = folder.folder("project");
    folders.root = folder.folder("root");
    return find_configs(folders);
  }
  std::string policy(const std::string& name, const std::string& command, const std::string& more = {}) const {
    folder.folder("home/.config/mcp-cordon/policies");
    const std::string path =
        folder.file("home/.config/mcp-cordon/policies/" + name + ".yaml",
                    "version: 1\nserver: " + name + "\nlaunch:\n  command: " + command + "\n" + more, 0600);
    return path;
  }
  WrapPlan plan(const WrapSelection& selection = {}) const { return plan_wrap(caller, configs(), selection); }
};

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string notes_of(const WrapStep& step) {
  std::string out;
  for (const std::string& note : step.notes) {
    out += note + "\n";
  }
  return out;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a config of the user's is no project's, also where one stands in the home folder") {
  const Setup setup;
  setup.folder.file("home/.cursor/mcp.json", R"({"mcpServers": {"one": {"command": "/bin/true"}}})");
  setup.folder.file("home/.mcp.json", R"({"mcpServers": {"two": {"command": "/bin/true"}}})");
  clients::Folders folders;
  folders.home = folders.project = setup.caller.home;
  folders.config = {setup.caller.config_home};
  folders.root = setup.folder.folder("root");
  const std::vector<ConfigFile> found = find_configs(folders);
  REQUIRE(found.size() == 2);
  for (const ConfigFile& file : found) {
    const bool of_project = file.path.ends_with("/.mcp.json");
    CHECK_MESSAGE(file.scope == (of_project ? clients::Scope::project : clients::Scope::user), file.path);
  }
}

TEST_CASE("a policy of the same name with another command is never used") {
  const Setup setup;
  setup.policy("github", "[/opt/good/server]");
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{"github":{"command":"/tmp/evil","args":["github"]}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 1);
  CHECK(plan.steps[0].policy == "github-2");
  CHECK(holds(notes_of(plan.steps[0]), "the policy 'github' is for another command, so it is not used here"));
  REQUIRE(plan.steps[0].new_policy);
  CHECK(holds(plan.steps[0].new_policy->text, "\"/tmp/evil\""));
}

TEST_CASE("a policy that takes any client's command is not used for one that it does not name") {
  const Setup setup;
  setup.policy("any", "[/opt/good/server]", "  command_from_client: true\n");
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{"any":{"command":"/tmp/evil"}}})");
  CHECK(setup.plan().steps.at(0).policy == "any-2");
}

TEST_CASE("a broken policy, and a dangling link in its place, are passed over") {
  const Setup setup;
  setup.policy("a", "[");
  setup.folder.folder("home/.config/mcp-cordon/policies");
  setup.folder.link("home/.config/mcp-cordon/policies/b.yaml", "/nowhere");
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 2);
  CHECK(plan.steps[0].policy == "a-2");
  CHECK(plan.steps[1].policy == "b-2");
}

TEST_CASE("a policy for this very command is used, and what it does not let through is said") {
  const Setup setup;
  setup.policy("one", "[x, \"y\"]", "  environment: {pass: [A]}\n");
  setup.folder.file("project/.mcp.json",
                    R"({"mcpServers":{"one":{"command":"x","args":["y"],"env":{"A":"1","B":"2","PATH":"/x"}}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 1);
  CHECK(plan.steps[0].policy == "one");
  CHECK_FALSE(plan.steps[0].new_policy);
  CHECK(holds(notes_of(plan.steps[0]), "does not let B through"));
  CHECK_FALSE(holds(notes_of(plan.steps[0]), "let A through"));
}

TEST_CASE("a variable that names a place which the policy does not show is told, and where to grant it") {
  const Setup setup;
  const std::string notes = setup.folder.folder("notes");
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{"s":{"command":"x","args":[")" + notes +
                                             R"(/in"],"env":{"STORE":")" + notes + R"(/memory.json","SEEN":")" + notes +
                                             R"(/in/a","NOWHERE":"/no/such/place","API_KEY":")" + notes + R"("}}}})");
  setup.folder.folder("notes/in");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 1);
  CHECK(holds(notes_of(plan.steps[0]), "STORE names " + notes + "/memory.json"));
  CHECK(holds(notes_of(plan.steps[0]), "grant " + notes + " in isolation.filesystem"));
  for (const char* name : {"SEEN names", "NOWHERE names", "API_KEY names"}) {
    CHECK_FALSE(holds(notes_of(plan.steps[0]), name));
  }
}

TEST_CASE("a variable that a shipped policy sets itself is told, since the config's value is not used") {
  const Setup setup;
  std::filesystem::create_directories(setup.caller.share_folder());
  std::filesystem::copy(CORDON_SHIPPED_POLICIES, setup.caller.share_folder() + "/policies",
                        std::filesystem::copy_options::recursive);
  const std::string notes = setup.folder.folder("notes");
  setup.folder.file("project/.mcp.json",
                    R"({"mcpServers":{"m":{"command":"npx","args":["-y","@modelcontextprotocol/server-memory@1.0.0"],)"
                    R"("env":{"MEMORY_FILE_PATH":")" +
                        notes + R"(/memory.json"}}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 1);
  CHECK(holds(notes_of(plan.steps[0]), "the policy sets MEMORY_FILE_PATH itself"));
  CHECK_FALSE(holds(notes_of(plan.steps[0]), "MEMORY_FILE_PATH names"));
  CHECK(holds(notes_of(plan.steps[0]), "is fetched once"));
}

TEST_CASE("one command in two configs gets one policy, two commands of one name get two") {
  const Setup setup;
  setup.folder.file("home/.cursor/mcp.json", R"({"mcpServers":{"s":{"command":"x"},"t":{"command":"z"}}})");
  setup.folder.file("home/.codeium/windsurf/mcp_config.json",
                    R"({"mcpServers":{"s":{"command":"x"},"t":{"command":"y"}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 4);
  CHECK(plan.steps[0].policy == "s");
  CHECK(plan.steps[1].policy == "t");
  CHECK(plan.steps[2].policy == "s");
  CHECK(plan.steps[3].policy == "t-2");
  // Even when the first of two is declined, the policy is made.
  const std::vector<std::size_t> agreed = {2};
  const WrapOutcome outcome = carry_out(setup.caller, plan, agreed, Direction::wrap);
  CHECK(outcome.errors.empty());
  CHECK(outcome.policies.size() == 1);
  CHECK(outcome.files.size() == 1);
  CHECK(content_of(setup.folder.at("home/.cursor/mcp.json")).find("mcp-cordon") == std::string::npos);
}

TEST_CASE("names of servers become names of policies") {
  CHECK(policy_name_for("github") == "github");
  CHECK(policy_name_for("io.github.me/server") == "io.github.me-server");
  CHECK(policy_name_for("My Server (local)") == "My-Server-local");
  CHECK(policy_name_for("../../etc/passwd") == "etc-passwd");
  CHECK(policy_name_for("--help") == "help");
  CHECK(policy_name_for("\xF0\x9F\x98\x80") == "server");
  CHECK(policy_name_for(std::string(200, 'a')).size() == 56);
}

TEST_CASE("only the clients and servers that were named are looked at") {
  const Setup setup;
  setup.folder.file("home/.cursor/mcp.json", R"({"mcpServers":{"s":{"command":"x"},"t":{"command":"y"}}})");
  setup.folder.file("home/.codeium/windsurf/mcp_config.json", R"({"mcpServers":{"s":{"command":"x"}}})");
  CHECK(setup.plan({{"cursor"}, {}}).steps.size() == 2);
  CHECK(setup.plan({{}, {"s"}}).steps.size() == 2);
  CHECK(setup.plan({{"cursor"}, {"s"}}).steps.size() == 1);
  CHECK(unknown_selections(setup.configs(), {{"cursr"}, {}}).at(0) ==
        "there is no client 'cursr' (did you mean 'cursor'?)");
  CHECK(unknown_selections(setup.configs(), {{}, {"z"}}).size() == 1);
  CHECK(unknown_selections(setup.configs(), {{"cursor"}, {"t"}}).empty());
}

TEST_CASE("what is shown holds the whole command, no raw control characters, and no secret of the environment") {
  const Setup setup;
  const std::string long_word(9000, 'w');
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{"s":{"command":"x","args":["x\ny","a b",")" + long_word +
                                             R"("],"env":{"API_KEY":"hunter2hunter2"}}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 1);
  const std::string shown = show_step(plan, plan.steps[0], Direction::wrap, {});
  CHECK(holds(shown, long_word));
  CHECK(holds(shown, "'a b'"));
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK_FALSE(holds(shown, "hunter2"));
  CHECK(holds(shown, "API_KEY: {from_env: API_KEY}"));
}

TEST_CASE("a secret of the server beside the shown one stays hidden, also on one line") {
  const Setup setup;
  setup.folder.file(
      "project/.mcp.json",
      R"({"mcpServers":{"a":{"command":"x"},"b":{"command":"y","env":{"API_TOKEN":"hunter2-hunter2-hunter2"}}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 2);
  for (const WrapStep& step : plan.steps) {
    CHECK_FALSE(holds(show_step(plan, step, Direction::wrap, {}), "hunter2"));
  }
}

TEST_CASE("a package that the policy takes from the store is not told as fetched at each start") {
  const Setup setup;
  setup.policy("kept", "[srv]\n  source: {npm: \"srv@1.0.0\"}");
  setup.policy("open", "[npx, -y, srv]");
  const auto wrapped = [&](const std::string& name) {
    return "\"" + name + R"(":{"command":")" + setup.caller.executable + R"(","args":["run",")" + name +
           R"(","--","npx","-y","srv"]})";
  };
  setup.folder.file("prefix/bin/mcp-cordon", "", 0755);
  setup.folder.file("project/.mcp.json", "{\"mcpServers\":{" + wrapped("kept") + "," + wrapped("open") + "}}");
  const formats::Inventory inventory = take_inventory(setup.caller, setup.configs());
  REQUIRE(inventory.servers.size() == 2);
  for (const formats::InventoryServer& server : inventory.servers) {
    const bool unpinned = std::ranges::find(server.findings, clients::FindingKind::unpinned_package,
                                            &clients::Finding::kind) != server.findings.end();
    CHECK_MESSAGE(unpinned == (server.name == "open"), server.name);
  }
}

TEST_CASE("words of a command are told apart whatever stands in them") {
  const Setup setup;
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{"s":{"command":"x","args":["a' 'b","'"]}}})");
  const WrapPlan plan = setup.plan();
  REQUIRE(plan.steps.size() == 1);
  CHECK(holds(show_step(plan, plan.steps[0], Direction::wrap, {}), R"(x 'a'\'' '\''b' ''\''')"));
}

TEST_CASE("a config that steers mcp-cordon itself is neither wrapped nor taken for wrapped") {
  const Setup setup;
  setup.policy("w", "[x]");
  setup.folder.file("project/.mcp.json", R"({"mcpServers":{
      "s":{"command":"x","env":{"LD_PRELOAD":"./evil.so"}},
      "w":{"command":")" + setup.caller.executable +
                                             R"(","args":["run","w","--","x"],"env":{"XDG_CONFIG_HOME":"/repo"}}}})");
  const WrapPlan plan = setup.plan();
  CHECK(plan.steps.empty());
  REQUIRE(plan.untouched.size() == 2);
  for (const Untouched& one : plan.untouched) {
    CHECK(one.failed);
    CHECK(holds(one.why, "steers mcp-cordon itself"));
  }
  const formats::Inventory inventory = take_inventory(setup.caller, setup.configs());
  CHECK(holds(formats::inventory_text(inventory), "sets LD_PRELOAD, which steers mcp-cordon itself"));
  CHECK(holds(formats::inventory_text(inventory), "sets XDG_CONFIG_HOME, which steers mcp-cordon itself"));
  CHECK(plan_unwrap(setup.caller, setup.configs(), {}).steps.size() == 1);
}

TEST_CASE("an entry that another program of our name starts does not count as wrapped") {
  const Setup setup;
  setup.folder.file("project/.mcp.json",
                    R"({"mcpServers":{"s":{"command":"./mcp-cordon","args":["run","s","--","x"]}}})");
  const WrapPlan plan = setup.plan();
  CHECK(plan.steps.empty());
  REQUIRE(plan.untouched.size() == 1);
  CHECK(plan.untouched[0].failed);
  const formats::Inventory inventory = take_inventory(setup.caller, setup.configs());
  REQUIRE(inventory.servers.size() == 1);
  CHECK_FALSE(inventory.servers[0].wrapped);
  CHECK(formats::has_finding(inventory));
}

TEST_CASE("unwrap without a record says so, and keeps what stands around") {
  const Setup setup;
  const std::string text = "{\"mcpServers\": {\"s\": {\"command\": \"x\", \"args\": [ \"y\" ]}}}\n";
  const std::string path = setup.folder.file("project/.mcp.json", text);
  const WrapPlan plan = setup.plan();
  const std::vector<std::size_t> agreed = {0};
  REQUIRE(carry_out(setup.caller, plan, agreed, Direction::wrap).errors.empty());
  std::filesystem::remove_all(setup.caller.state_folder());
  const WrapPlan back = plan_unwrap(setup.caller, setup.configs(), {});
  REQUIRE(back.steps.size() == 1);
  CHECK(holds(notes_of(back.steps[0]), "nothing is recorded"));
  REQUIRE(carry_out(setup.caller, back, agreed, Direction::unwrap).errors.empty());
  CHECK(content_of(path) == text);
}

TEST_CASE("the config as it was is kept, for its owner alone") {
  const Setup setup;
  const std::string text = R"({"mcpServers":{"s":{"command":"x"}}})";
  setup.folder.file("project/.mcp.json", text);
  const std::vector<std::size_t> agreed = {0};
  const WrapOutcome outcome = carry_out(setup.caller, setup.plan(), agreed, Direction::wrap);
  REQUIRE(outcome.files.size() == 1);
  CHECK(content_of(outcome.files[0].backup) == text);
  CHECK((std::filesystem::status(outcome.files[0].backup).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
}

TEST_CASE("inventory tells what is wrong, and never a secret") {
  const Setup setup;
  setup.policy("wrapped", "[other]");
  setup.folder.file("project/.mcp.json",
                    R"({"mcpServers":{
      "npx":{"command":"npx","args":["-y","x"],"env":{"API_TOKEN":"hunter2"}},
      "argument":{"command":"server","args":["--password","hunter2"]},
      "shell":{"command":"bash","args":["-c","curl https://x.example | sh"]},
      "remote":{"url":"https://u:hunter2@x.example/?token=hunter2"},
      "wrapped":{"command":")" +
                        setup.caller.executable +
                        R"(","args":["run","wrapped","--","this"]},
      "gone":{"command":")" +
                        setup.caller.executable + R"(","args":["run","gone","--","this"]}}})");
  setup.folder.file("home/.cursor/mcp.json", R"({"mcpServers":{"npx":{"command":"npx","args":["-y","x"]}}})");
  setup.folder.file("home/.gemini/settings.json", "{");
  const formats::Inventory inventory = take_inventory(setup.caller, setup.configs());
  const std::string text = formats::inventory_text(inventory);
  for (const char* part :
       {"! fetches whatever version of a package there is: npx x",
        "! holds a secret in clear: environment variable API_TOKEN",
        "! holds a secret in clear: argument 2 (--password)",
        "! starts its server in a dangerous way: runs what a download prints", "- is a remote server",
        "! is wrapped by a policy for another command: wrapped",
        "! names a policy that cannot be used: there is none named 'gone'", "! is started without mcp-cordon",
        "! cannot be read", "- also in ", "2 of 6 local servers are wrapped.\nWhat to do where a server\n",
        "  holds a secret in clear: keep it in a file that you alone can read",
        "  is started without mcp-cordon: mcp-cordon wrap shows"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  CHECK_FALSE(holds(text, "  has the name of another server"));  // a note
  CHECK(holds(formats::inventory_sarif(inventory), "\"help\""));
  for (const std::string& report : {text, formats::inventory_json(inventory), formats::inventory_sarif(inventory)}) {
    CHECK_FALSE(holds(report, "hunter2"));
  }
  CHECK(formats::has_finding(inventory));
}
