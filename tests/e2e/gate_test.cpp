// SPDX-License-Identifier: Apache-2.0
// What a client sees of an honest server, and what it does not see of one that drifted.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "e2e/fixture.hpp"

using e2e::Fixture;
using fake::Json;

namespace {

const std::string kModern =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

const Json& tool_named(const Json& list, const std::string& name) {
  static const Json absent;
  const auto& tools = list["result"]["tools"].items;
  const auto found =
      std::find_if(tools.begin(), tools.end(), [&](const Json& tool) { return tool["name"].text == name; });
  return found == tools.end() ? absent : *found;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an honest server works as without the proxy, save what the policy forbids") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened();
  const Json list = peer->request("1", "tools/list");
  CHECK(list["result"]["tools"].items.size() == 7);
  CHECK(tool_named(list, "echo")["description"].text == "Returns the text it is given.");
  CHECK(fake::text_of(peer->call("2", "echo", R"({"text":"gr\u00fc\u00df 1e400"})")) == "grüß 1e400");
  CHECK(fake::text_of(peer->call("\"three\"", "read_file", R"({"path":")" + fixture.granted("hello.txt") + "\"}")) ==
        "hello from inside\n");
  peer->close_stdin();
  CHECK(peer->wait_exit(2000) == 0);
  CHECK(peer->stray.empty());
}

TEST_CASE("the same in the stateless era") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run();
  const Json found = peer->request("\"d\"", "server/discover", "{" + kModern + "}");
  CHECK(found["result"]["instructions"].text == "A server for tests.");
  CHECK(peer->request("1", "tools/list", "{" + kModern + "}")["result"]["tools"].items.size() == 7);
  const Json answer = peer->request("2", "tools/call", R"({"name":"echo","arguments":{"text":"x"},)" + kModern + "}");
  CHECK(fake::text_of(answer) == "x");
  CHECK(answer["result"]["resultType"].text == "complete");
}

TEST_CASE("a tool whose rule says block is listed, and refused without reaching the server") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened();
  CHECK(tool_named(peer->request("1", "tools/list"), "write_file"));
  const std::string path = fixture.granted("new.txt");
  const Json answer = peer->call("2", "write_file", R"({"path":")" + path + R"(","text":"x"})");
  CHECK(answer["result"]["isError"].text == "true");
  CHECK(holds(answer.raw, "dev.mcp-cordon/"));
  CHECK(e2e::read_text(path) == "");
}

TEST_CASE("the server sees what was granted and nothing else") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened();
  const Json outside = peer->call("1", "read_file", R"({"path":")" + fixture.folder() + R"(/outside/secret.txt"})");
  CHECK(outside["result"]["isError"].text == "true");
  CHECK_FALSE(holds(outside.raw, "the secret"));
  CHECK(fake::text_of(peer->call("2", "env", R"({"name":"HOME"})")) == "/home/cordon");
  CHECK(e2e::refused(peer->call("3", "env", R"({"name":"SECRET"})")));
}

TEST_CASE("a changed description is shown as reviewed, its tool is refused, the others work") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const std::string kind : {"description", "schema"}) {
    CAPTURE(kind);
    const auto peer = fixture.opened("--drift=" + kind);
    for (int again = 0; again < 2; ++again) {  // asking twice does not make it the baseline
      const Json list = peer->request("1", "tools/list");
      CHECK(tool_named(list, "echo")["description"].text == "Returns the text it is given.");
      CHECK_FALSE(holds(list.raw, "id_ed25519"));
      CHECK_FALSE(holds(list.raw, "context"));
      const Json answer = peer->call("2", "echo", R"({"text":"x"})");
      CHECK(e2e::refused(answer));
      CHECK(holds(answer.raw, "tool_changed"));
    }
    CHECK(holds(fake::text_of(peer->call("3", "read_file", R"({"path":")" + fixture.granted("hello.txt") + "\"}")),
                "hello"));
  }
}

TEST_CASE("a catalog that changes in mid-session is judged against the snapshot") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const std::string how : {"--drift-after=1:description", "--quiet-drift-after=1:description"}) {
    CAPTURE(how);
    const auto peer = fixture.opened(how);
    CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"before"})")) == "before");
    CHECK(tool_named(peer->request("2", "tools/list"), "echo")["description"].text == "Returns the text it is given.");
    CHECK(holds(peer->call("3", "echo", R"({"text":"after"})").raw, "tool_changed"));
  }
}

TEST_CASE("an added tool is not there; an annotation that lies changes nothing") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto added = fixture.opened("--drift=added");
  CHECK_FALSE(tool_named(added->request("1", "tools/list"), "delete_all"));
  CHECK(added->call("2", "delete_all")["error"]["code"].text == "-32602");

  const auto lying = fixture.opened("--drift=annotations");
  CHECK_FALSE(tool_named(lying->request("1", "tools/list"), "write_file")["annotations"]["readOnlyHint"].text ==
              "true");
}

TEST_CASE("drifted instructions never reach the client") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--drift=instructions");
  CHECK_FALSE(holds(peer->open().raw, "everything you know"));
}

TEST_CASE("an order of its own is no drift") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened("--drift=order");
  CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"x"})")) == "x");
}

TEST_CASE("all pages are learned, also behind an empty cursor") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const std::string how : {"--page=3", "--page=3 --cursor=empty"}) {
    CAPTURE(how);
    const auto peer = fixture.opened(how);
    CHECK(fake::text_of(peer->call("1", "env", R"({"name":"HOME"})")) == "/home/cordon");
  }
}

TEST_CASE("a list that never ends and a name that stands twice fail closed") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const std::string how : {"--page=3 --cursor=loop", "--duplicate-tools"}) {
    CAPTURE(how);
    const auto peer = fixture.opened(how);
    CHECK(e2e::refused(peer->call("1", "echo", R"({"text":"x"})")));
    CHECK(peer->request("2", "ping")["result"]);
  }
}

TEST_CASE(
    "prompts and resources that nobody reviewed are taken out, and the server's own questions are answered for it") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--prompts");
  const Json opening = peer->open();
  CHECK_FALSE(opening["result"]["capabilities"]["prompts"]);
  CHECK_FALSE(opening["result"]["capabilities"]["resources"]);
  CHECK(peer->request("1", "prompts/list")["error"]["code"].text == "-32601");
  for (const std::string question : {"roots/list", "sampling/createMessage", "elicitation/create"}) {
    CAPTURE(question);
    const Json answer = peer->call("2", "ask", R"({"method":")" + question + "\"}");
    CHECK(answer["result"]);
    CHECK_FALSE(holds(answer.raw, "\"roots\""));
  }
  CHECK(peer->others.empty());
}
