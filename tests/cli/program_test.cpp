// SPDX-License-Identifier: Apache-2.0
// The program as a person and a client meet it: exit status, streams, the terminal of review. Run by e2e/in_copy.sh,
// which says where the copies are.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/place.hpp"
#include "cli/terminal_session.hpp"
#include "fakes/peer.hpp"

using namespace cli_test;

TEST_CASE("exit status: usage 2, findings 1, errors by name, help 0") {
  const Place place;
  CHECK(place.tool({}).status == 2);
  CHECK(place.tool({"run"}).status == 2);
  CHECK(place.tool({"run", "a", "--policy", "b"}).status == 2);
  CHECK(place.tool({"diff", "a", "b", "c"}).status == 2);
  CHECK(place.tool({"diff", "--format", "nonsense", "a"}).status == 2);
  CHECK(place.tool({"--version"}).status == 0);
  CHECK(place.tool({"capture", "--policy", place.at("absent.yaml")}).status == 92);
  write_text(place.at("bad.yaml"), "version: 1\n");
  const Outcome bad = place.tool({"check", place.at("bad.yaml"), place.at("one.yaml")});
  CHECK(bad.status == 1);
  CHECK(holds(bad.out, place.at("bad.yaml") + ":1:1: "));
  CHECK(place.tool({"check", "--syntax-only", place.at("one.yaml")}).status == 0);
  CHECK(place.tool({"check", "--syntax-only", "--policy", place.at("one.yaml")}).status == 0);
  CHECK(place.tool({"check", "--syntax-only", "--deep", place.at("one.yaml")}).status == 2);
  const Outcome unreviewed = place.tool({"check", place.at("one.yaml")});
  CHECK(unreviewed.status == 1);
  CHECK(holds(unreviewed.out, place.at("one.catalog.json") + ": nobody has reviewed"));
  REQUIRE(place.accept_all().status == 0);
  place.policy("catalog: {accept_unattended: true}\n");
  const Outcome ready = place.tool({"check", place.at("one.yaml")});
  CHECK_MESSAGE(ready.status == 0, ready.out);
  std::filesystem::remove(place.at("server"));
  const Outcome gone = place.tool({"check", place.at("one.yaml")});
  CHECK(gone.status == 1);
  CHECK(holds(gone.out, place.at("server")));
}

TEST_CASE("a person reviews at the terminal, and run takes what was accepted") {
  const Place place;
  TerminalSession session(place.argv({"review", "--policy", place.at("one.yaml")}),
                          place.environment({"TERM=xterm", "NO_COLOR=1"}));
  REQUIRE_MESSAGE(session.wait_for("there is no snapshot yet"), session.shown());
  // Everything is accepted, tools with class read.
  for (bool last = false; !last;) {
    REQUIRE_MESSAGE(session.wait_for("[y,n,"), session.shown());
    const std::string item = session.between();
    const std::size_t slash = item.find('/');
    REQUIRE(slash != std::string::npos);
    const std::string number = item.substr(item.rfind('[', slash) + 1, slash - item.rfind('[', slash) - 1);
    last = number == item.substr(slash + 1, item.find(']', slash) - slash - 1);
    if (holds(item, "effect class:")) {
      session.type("c read");
      REQUIRE(session.wait_for("effect class: read"));
      REQUIRE(session.wait_for("[y,n,"));
    }
    session.type("y");
  }
  REQUIRE_MESSAGE(session.wait_for("; n writes nothing: "), session.shown());
  const std::string asked = session.between();
  const std::size_t word = asked.rfind("type ") + 5;
  session.type("y");
  REQUIRE(session.wait_for("That is not the word."));
  session.type(asked.substr(word, asked.find(';', word) - word));
  CHECK(session.wait_exit() == 0);
  CHECK(session.shown().find('\x1b') == std::string::npos);  // NO_COLOR
  const std::string snapshot = read_text(place.at("one.catalog.json"));
  CHECK(holds(snapshot, "\"unattended\": false"));
  CHECK(holds(snapshot, "\"effect_source\": \"reviewer\""));
  CHECK(place.opening()["result"]);
  CHECK(place.tool({"diff", "--policy", place.at("one.yaml"), "--exit-code"}).status == 0);
}

TEST_CASE("quitting at the terminal writes nothing") {
  const Place place;
  TerminalSession session(place.argv({"review", "--policy", place.at("one.yaml")}), place.environment({"TERM=xterm"}));
  REQUIRE_MESSAGE(session.wait_for("[y,n,"), session.shown());
  CHECK(holds(session.shown(), "\x1b["));  // colour on a terminal
  session.type("q");
  CHECK(session.wait_exit() == 0);
  CHECK_FALSE(std::filesystem::exists(place.at("one.catalog.json")));
}

TEST_CASE("without a terminal nobody reviews: what is piped in is no person, and nothing is started") {
  const Place place;
  fake::Peer peer(place.argv({"review", "--policy", place.at("one.yaml")}), place.environment());
  for (int i = 0; i < 30; ++i) {
    peer.send("a");
  }
  peer.send("y");
  peer.close_stdin();
  CHECK(peer.wait_exit(fake::Peer::kPatienceMs) == 92);
  CHECK_FALSE(std::filesystem::exists(place.at("one.catalog.json")));
  CHECK_FALSE(std::filesystem::exists(place.at("home/.local/state/mcp-cordon/audit/one")));
}

TEST_CASE("run without a review, and with an unattended one, tells the client why") {
  const Place place;
  CHECK(error_type(place.opening()) == "snapshot_missing");
  CHECK(holds(place.last_stderr(), "mcp-cordon: snapshot_missing: "));
  REQUIRE(place.accept_all().status == 0);
  CHECK(error_type(place.opening()) == "snapshot_unattended");
  place.policy("catalog: {accept_unattended: true}\n");
  CHECK(place.opening()["result"]);
}

TEST_CASE("a changed program is launch_changed, or flagged where the policy says so") {
  const Place place;
  place.policy("catalog: {accept_unattended: true}\n");
  REQUIRE(place.accept_all().status == 0);
  std::ofstream(place.at("server"), std::ios::app) << "x";
  CHECK(error_type(place.opening()) == "launch_changed");
  place.policy("catalog: {accept_unattended: true, drift: {launch: flag}}\n");
  CHECK(place.opening()["result"]);
  CHECK(holds(place.last_stderr(), "the program that the command starts changed"));
}

TEST_CASE("a changed program is found before its secret is asked for") {
  const Place place;
  const auto with_secret = [&](const std::string& more) {
    place.policy(more, "  environment: {secrets: {TOKEN: {from_command: [sh, -c, \"echo s3cret; echo x >> '" +
                           place.at("asked") + "'\"]}}}\n");
  };
  with_secret("catalog: {accept_unattended: true}\n");
  REQUIRE(place.accept_all().status == 0);
  const std::string before = read_text(place.at("asked"));
  CHECK_FALSE(before.empty());
  std::ofstream(place.at("server"), std::ios::app) << "x";
  CHECK(error_type(place.opening()) == "launch_changed");
  CHECK(read_text(place.at("asked")) == before);
}

TEST_CASE("what covers of other programs' settings leave open is told at the start, and nothing stays behind") {
  const Place place;
  std::filesystem::create_directories(place.at("proj/.vscode"));
  place.policy("  filesystem: {write: [\"" + place.at("proj") + "\"]}\ncatalog: {missing: flag}\n");
  CHECK(place.opening()["result"]);
  CHECK_FALSE(holds(place.last_stderr(), "write grant"));
  std::filesystem::create_symlink("AGENTS.md", place.at("proj/CLAUDE.md"));
  CHECK(error_type(place.opening()) == "unsupported_isolation");
  place.policy("  filesystem: {write: [{path: \"" + place.at("proj") +
               "\", reason: a test}]}\ncatalog: {missing: flag}\n");
  CHECK(place.opening()["result"]);
  CHECK(holds(place.last_stderr(), "write grant: '" + place.at("proj/CLAUDE.md") + "': a symlink steers"));
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(place.at("proj"))) {
    ++left;
  }
  CHECK(left == 2);
}

TEST_CASE("a write grant over the program, through a symlink, is refused") {
  const Place place;
  std::filesystem::create_directories(place.at("w"));
  std::filesystem::create_symlink(place.at("server"), place.at("w/server"));
  write_text(place.at("one.yaml"), "version: 1\nserver: one\nlaunch:\n  command: [\"" + place.at("w/server") +
                                       "\"]\nisolation:\n  filesystem: {write: [\"" + place.at("w") +
                                       "\"]}\ncatalog: {missing: flag}\n");
  CHECK(error_type(place.opening()) == "policy_invalid");
  CHECK(holds(place.last_stderr(), "which decides what the next launch does"));
}

TEST_CASE("the command after -- must be the policy's") {
  const Place place;
  place.policy("catalog: {accept_unattended: true}\n");
  REQUIRE(place.accept_all().status == 0);
  CHECK(place.opening({}, {"--", place.at("server")})["result"]);
  CHECK(error_type(place.opening({}, {"--", place.at("server"), "--banner"})) == "launch_changed");
}

TEST_CASE("a broken policy, a ceiling, and a write grant over the policy speak the protocol too") {
  const Place place;
  place.policy("isolatoin: {}\n");
  CHECK(error_type(place.opening()) == "policy_invalid");
  place.policy("");
  CHECK(error_type(place.opening({"MCP_CORDON_CEILING=/etc/ceiling.yaml"})) == "file_unreadable");
  place.policy("  filesystem: {write: [{path: \"" + place.at("") + "\", reason: all}]}\ncatalog: {missing: flag}\n");
  CHECK(error_type(place.opening()) == "policy_invalid");
  ::chmod(place.at("one.yaml").c_str(), 0666);
  CHECK(error_type(place.opening()) == "file_untrusted");
}

TEST_CASE("the value of a secret reaches the server and nothing that is written") {
  const Place place;
  place.policy("catalog: {accept_unattended: true}\ntools: {rules: [{tools: [\"*\"], action: allow}]}\n",
               "  environment: {secrets: {API_TOKEN: {from_env: TOKEN}}}\n");
  REQUIRE(place
              .tool({"review", "--policy", place.at("one.yaml"), "--accept-all", "--reviewer", "robot"},
                    {"TOKEN=s3cret-value"})
              .status == 0);
  fake::Peer peer(place.argv({"run", "--policy", place.at("one.yaml")}), place.environment({"TOKEN=s3cret-value"}));
  REQUIRE(peer.open()["result"]);
  CHECK(fake::text_of(peer.call("1", "env", R"({"name":"API_TOKEN"})")) == "s3cret-value");
  peer.close_stdin();
  CHECK(peer.wait_exit(fake::Peer::kPatienceMs) == 0);
  CHECK_FALSE(holds(peer.stderr_text(), "s3cret-value"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place.at("home/.local"))) {
    if (entry.is_regular_file()) {
      CAPTURE(entry.path().string());
      CHECK_FALSE(holds(read_text(entry.path().string()), "s3cret-value"));
    }
  }
  CHECK_FALSE(holds(read_text(place.at("one.catalog.json")), "s3cret-value"));
  const Outcome facts = place.tool({"facts", "--policy", place.at("one.yaml")});
  CHECK(facts.status == 0);
  CHECK(holds(facts.out, "API_TOKEN"));
  // Without its secret the server is not started.
  CHECK(error_type(place.opening()) == "launch_failed");
}

TEST_CASE("the server's stderr goes where the policy says") {
  const Place place;
  const std::string accepted = "catalog: {accept_unattended: true}\n";
  place.policy(accepted);
  REQUIRE(place.accept_all().status == 0);
  CHECK(place.opening()["result"]);
  CHECK(holds(place.last_stderr(), "[one] fake-server: asked for initialize"));
  place.policy(accepted, "  stderr: file\n");
  CHECK(place.opening()["result"]);
  CHECK_FALSE(holds(place.last_stderr(), "fake-server:"));
  CHECK(holds(read_text(place.at("home/.local/state/mcp-cordon/stderr/one.log")), "asked for initialize"));
  place.policy(accepted, "  stderr: drop\n");
  CHECK(place.opening()["result"]);
  CHECK_FALSE(holds(place.last_stderr(), "fake-server:"));
}

TEST_CASE("the log can be read while a ceiling that is not there keeps everything else from starting") {
  const Place place;
  REQUIRE(place.accept_all().status == 0);
  const Words ceiling = {"MCP_CORDON_CEILING=/etc/ceiling.yaml"};
  CHECK(place.tool({"audit", "verify", "--policy", place.at("one.yaml")}, ceiling).status == 0);
  CHECK(place.tool({"capture", "--policy", place.at("one.yaml")}, ceiling).status == 92);
  CHECK(place.tool({"facts", "--policy", place.at("one.yaml")}, ceiling).status == 92);
}

TEST_CASE("run --read-only refuses what is not of class read") {
  const Place place;
  place.policy("catalog: {accept_unattended: true}\ntools: {rules: [{tools: [\"*\"], action: allow}]}\n");
  REQUIRE(place.accept_all().status == 0);
  fake::Peer peer(place.argv({"run", "--policy", place.at("one.yaml"), "--read-only"}), place.environment());
  REQUIRE(peer.open()["result"]);
  const fake::Json answer = peer.call("1", "echo", R"({"text":"x"})");
  CHECK((answer["error"] || answer["result"]["isError"].text == "true"));
}

TEST_CASE("a capture can be reviewed later, without starting anything, for the same launch alone") {
  const Place place;
  const std::string candidate = place.at("candidate.json");
  REQUIRE(place.tool({"capture", "--policy", place.at("one.yaml"), "-o", candidate}).status == 0);
  const Words review = {"review",  "--policy",     place.at("one.yaml"), "--candidate",
                        candidate, "--accept-all", "--reviewer",         "robot"};
  CHECK(place.tool(review).status == 0);
  CHECK(place.tool({"diff", candidate, place.at("one.catalog.json"), "--exit-code"}).status == 0);
  std::ofstream(place.at("server"), std::ios::app) << "x";
  CHECK(place.tool(review).status == 68);
}

TEST_CASE("audit verify gives 1 once a record was edited") {
  const Place place;
  REQUIRE(place.accept_all().status == 0);
  CHECK(place.tool({"audit", "verify", "one"}).status == 0);
  CHECK(holds(place.tool({"audit", "show", "one"}).out, " launch purpose=capture "));
  for (const auto& entry : std::filesystem::directory_iterator(place.at("home/.local/state/mcp-cordon/audit/one"))) {
    if (entry.path().extension() == ".jsonl") {
      std::string text = read_text(entry.path().string());
      text.replace(text.find("\"capture\""), 9, "\"CAPTURE\"");
      write_text(entry.path().string(), text);
    }
  }
  CHECK(place.tool({"audit", "verify", "one"}).status == 1);
}

TEST_CASE("doctor tries every backend from inside") {
  const Place place;
  const Outcome out = place.tool({"doctor"});
  CHECK(out.status == 0);
  CHECK(holds(out.out, "guarantee"));
  CHECK(holds(out.out, "none: filesystem"));
  CHECK(holds(out.out, "none: "));
  CHECK(holds(out.out, " held, 0 breached"));
  const Outcome json = place.tool({"doctor", "--format", "json"});
  CHECK(json.status == 0);
  CHECK(holds(json.out, R"({"format":"mcp-cordon.doctor","version":1,)"));
  CHECK(place.tool({"doctor", "--format", "xml"}).status == 2);
}

TEST_CASE("probe prints a table or JSON, gives 0 when the boundary holds, and leaves nothing") {
  const Place place;
  const Outcome out = place.tool({"probe", "--policy", place.at("one.yaml")});
  CHECK(out.status == 0);
  CHECK(holds(out.out, "  held           filesystem.key "));
  CHECK(holds(out.out, ", 0 breached"));
  const Outcome json = place.tool({"probe", "--policy", place.at("one.yaml"), "--format", "json"});
  CHECK(json.status == 0);
  CHECK(holds(json.out, R"({"format":"mcp-cordon.probe","version":1,"server":"one",)"));
  CHECK(std::filesystem::is_empty(place.at("home/.local/state/mcp-cordon/probe")));
  CHECK(place.tool({"probe", "--policy", place.at("one.yaml"), "--format", "xml"}).status == 2);
  CHECK(place.tool({"probe", "--policy", place.at("one.yaml"), "--through", "echo"}).status == 2);
  CHECK(place.tool({"probe", "--policy", place.at("one.yaml"), "--arguments", "{}"}).status == 2);
  CHECK(place.tool({"probe", "--policy", place.at("one.yaml"), "--", "/bin/true"}).status == 68);
}

TEST_CASE("probe --through lets the server try, through a reviewed tool alone") {
  const Place place;
  const auto through = [&](const std::string& tool, const std::string& arguments) {
    return place.tool({"probe", "--policy", place.at("one.yaml"), "--through", tool, "--argument", "/path",
                       "--arguments", arguments});
  };
  place.policy("catalog: {accept_unattended: true}\n");
  CHECK(through("read_file", "{}").status == 71);  // nothing was reviewed
  REQUIRE(place.accept_all().status == 0);
  CHECK(through("delete_all", "{}").status == 74);
  const Outcome read = through("read_file", "{}");
  CHECK(read.status == 0);
  CHECK(holds(read.err, "mcp-cordon: calling read_file with {\"path\":\""));
  CHECK(holds(read.err, "{\"path\":\"http://127.0.0.1:"));
  CHECK(holds(read.out, "  held           through.key "));
  CHECK(holds(read.out, "  held           through.host "));
  CHECK(holds(through("write_file", R"({"text":"x"})").out, "  held           through.write "));
  CHECK(through("write_file", "[]").status == 70);
  CHECK(std::filesystem::is_empty(place.at("home/.local/state/mcp-cordon/probe")));
  std::ofstream(place.at("server"), std::ios::app) << "x";
  CHECK(through("read_file", "{}").status == 68);
}

TEST_CASE("without isolation the server gets what it must not, and probe says that this was to be expected") {
  const Place place;
  ::chmod(place.at("").c_str(), 0755);  // started by root, the server is another account
  write_text(place.at("one.yaml"), "version: 1\nserver: one\nlaunch:\n  home: temporary\n  command: [\"" +
                                       place.at("server") +
                                       "\"]\nisolation:\n  backend: none\n  reason: a test\n  require: []\n"
                                       "catalog: {accept_unattended: true}\n");
  REQUIRE(place.accept_all().status == 0);
  const Words words = {"probe", "--policy", place.at("one.yaml"), "--argument", "/path", "--through"};
  Words read = words;
  read.insert(read.end(), {"read_file"});
  const Outcome key = place.tool(read);
  CHECK(key.status == 0);
  CHECK(holds(key.out, "  expected       through.key                     read a key: its content came back (no: "));
  const Outcome inside = place.tool({"probe", "--policy", place.at("one.yaml")});
  CHECK(inside.status == 0);
  CHECK(holds(inside.out, "  expected       filesystem.key "));
}
