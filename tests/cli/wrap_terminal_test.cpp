// SPDX-License-Identifier: Apache-2.0
// wrap and unwrap as a person at a terminal and a script meet them, and a wrapped server that starts.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "cli/place.hpp"
#include "cli/terminal_session.hpp"

using namespace cli_test;

namespace {

std::string put_config(const Place& place, const std::string& server) {
  std::filesystem::create_directories(place.at("home/.cursor"));
  const std::string text =
      "{\n  \"mcpServers\": {\n    \"one\": {\n      \"command\": \"" + server + "\" // mine\n    }\n  }\n}\n";
  write_text(place.at("home/.cursor/mcp.json"), text);
  return text;
}

}  // namespace

TEST_CASE("wrap asks at the terminal, writes after y, and unwrap takes it back") {
  const Place place;
  const std::string config = place.at("home/.cursor/mcp.json");
  const std::string text = put_config(place, place.at("server"));
  {
    TerminalSession session(place.argv({"wrap"}), place.environment({"TERM=xterm", "NO_COLOR=1"}));
    REQUIRE_MESSAGE(session.wait_for("Wrap it?"), session.shown());
    CHECK(holds(session.shown(), place.at("server")));
    session.type("n");
    CHECK(session.wait_exit() == 0);
    CHECK(read_text(config) == text);
    CHECK_FALSE(std::filesystem::exists(place.at("home/.config/mcp-cordon/policies/one.yaml")));
  }
  {
    TerminalSession session(place.argv({"wrap"}), place.environment({"TERM=xterm", "NO_COLOR=1"}));
    REQUIRE_MESSAGE(session.wait_for("Wrap it?"), session.shown());
    session.type("what");
    REQUIRE_MESSAGE(session.wait_for("'what' is no answer here"), session.shown());
    REQUIRE_MESSAGE(session.wait_for("Wrap it?"), session.shown());
    session.type("?");
    REQUIRE_MESSAGE(session.wait_for("  q  quit: write nothing"), session.shown());
    REQUIRE_MESSAGE(session.wait_for("Wrap it?"), session.shown());
    session.type("d");
    CHECK(session.wait_exit() == 0);
    CHECK(read_text(config) == text);
  }
  {
    TerminalSession session(place.argv({"wrap"}), place.environment({"TERM=xterm", "NO_COLOR=1"}));
    REQUIRE_MESSAGE(session.wait_for("Wrap it?"), session.shown());
    session.type("y");
    CHECK(session.wait_exit() == 0);
  }
  CHECK(holds(read_text(config), "\"args\": [\"run\", \"one\", \"--\", \"" + place.at("server") + "\"] // mine"));
  const std::string policy = place.at("home/.config/mcp-cordon/policies/one.yaml");
  CHECK(place.tool({"check", "--syntax-only", policy}).status == 0);
  const Outcome unreviewed = place.tool({"check", policy});
  CHECK(unreviewed.status == 1);
  CHECK(holds(unreviewed.out, "nobody has reviewed this server's catalog yet (mcp-cordon review one)"));
  CHECK(place.tool({"unwrap", "--all", "--yes"}).status == 0);
  CHECK(read_text(config) == text);
}

TEST_CASE("exit status of wrap and inventory; nobody is asked without a terminal") {
  const Place place;
  CHECK(place.tool({"inventory"}).status == 0);
  const std::string text = put_config(place, place.at("server"));
  const std::string config = place.at("home/.cursor/mcp.json");
  CHECK(place.tool({"inventory"}).status == 1);
  CHECK(place.tool({"inventory", "--format", "xml"}).status == 2);
  CHECK(place.tool({"inventory", "--client", "nobody"}).status == 2);
  const Outcome check = place.tool({"wrap", "--check"});
  CHECK(check.status == 1);
  CHECK(holds(check.out, config + ":3:5: server 'one' is not wrapped"));
  CHECK(place.tool({"wrap", "--yes"}).status == 2);
  CHECK(place.tool({"wrap", "--all", "--client", "cursor"}).status == 2);
  CHECK(place.tool({"wrap", "--yes", "--check", "--all"}).status == 2);
  CHECK(place.tool({"wrap", "--server", "two"}).status == 2);
  CHECK(place.tool({"unwrap", "--check"}).status == 2);
  CHECK(place.tool({"wrap", "--all", "--dry-run"}).status == 0);
  CHECK(read_text(config) == text);
  CHECK(place.tool({"wrap", "--all", "--yes"}).status == 0);
  CHECK(place.tool({"wrap", "--check"}).status == 0);
  CHECK(place.tool({"inventory"}).status == 0);
}

TEST_CASE("init writes a policy once") {
  const Place place;
  CHECK(place.tool({"init", "two"}).status == 2);
  const Outcome shown = place.tool({"init", "two", "--dry-run", "--env", "API_KEY", "--", "/bin/true", "x"});
  CHECK(shown.status == 0);
  CHECK(holds(shown.out, "command: [\"/bin/true\", \"x\"]"));
  CHECK(holds(shown.out, "API_KEY: {from_env: API_KEY}"));
  CHECK(place.tool({"init", "two", "--", "/bin/true", "x"}).status == 0);
  const std::string path = place.at("home/.config/mcp-cordon/policies/two.yaml");
  const std::string text = read_text(path);
  CHECK(place.tool({"check", "--syntax-only", path}).status == 0);
  CHECK(place.tool({"init", "two", "--", "/bin/true", "x"}).status == 0);
  CHECK(place.tool({"init", "two", "--", "/bin/false"}).status == 70);
  CHECK(read_text(path) == text);
}
