// SPDX-License-Identifier: Apache-2.0
// The fakes hold what they promise, without the program between them.

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

#include "fakes/peer.hpp"

using fake::Json;
using fake::Peer;

namespace {

std::vector<std::string> server(std::vector<std::string> switches) {
  switches.insert(switches.begin(), FAKE_SERVER);
  return switches;
}

const std::string kModern =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

}  // namespace

TEST_CASE("the honest server opens, lists and calls in the handshake era") {
  Peer peer(server({}), {});
  CHECK(peer.open()["result"]["protocolVersion"].text == "2025-06-18");
  CHECK(peer.request("1", "tools/list")["result"]["tools"].items.size() == 7);
  CHECK(fake::text_of(peer.call("2", "echo", R"({"text":"gr\u00fc\u00df \ud83d\ude00\n"})")) == "grüß 😀\n");
  CHECK(peer.call("3", "read_file", R"({"path":"/nowhere"})")["result"]["isError"].text == "true");
  CHECK(peer.request("4", "no/such")["error"]["code"].text == "-32601");
  peer.close_stdin();
  CHECK(peer.wait_exit(2000) == 0);
  CHECK(peer.stray.empty());
}

TEST_CASE("the server speaks the stateless era") {
  Peer peer(server({}), {});
  const Json found = peer.request("\"d\"", "server/discover", "{" + kModern + "}");
  CHECK(found["result"]["supportedVersions"].raw == R"(["2026-07-28"])");
  CHECK(found["result"]["resultType"].text == "complete");
  const Json list = peer.request("1", "tools/list", "{" + kModern + "}");
  CHECK(list["result"]["cacheScope"].text == "private");
  CHECK(list["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].text == "fake-server");
}

TEST_CASE("with --one-era the second era is refused") {
  Peer peer(server({"--one-era"}), {});
  peer.open();
  CHECK(peer.request("1", "tools/list", "{" + kModern + "}")["error"]["code"].text == "-32600");
}

TEST_CASE("pages end, also with an empty cursor, unless they loop") {
  for (const std::string cursor : {"", "--cursor=empty"}) {
    Peer peer(cursor.empty() ? server({"--page=3"}) : server({"--page=3", cursor}), {});
    std::size_t tools = 0;
    std::string params = "{}";
    int pages = 0;
    for (; pages < 5; ++pages) {
      const Json result = peer.request(std::to_string(pages), "tools/list", params)["result"];
      tools += result["tools"].items.size();
      if (!result["nextCursor"]) break;
      params = R"({"cursor":)" + result["nextCursor"].raw + "}";
    }
    CHECK(tools == 7);
    CHECK(pages == 2);
  }
  Peer looping(server({"--page=3", "--cursor=loop"}), {});
  CHECK(looping.request("1", "tools/list", R"({"cursor":"at:0"})")["result"]["nextCursor"].text == "at:0");
}

TEST_CASE("drift in mid-session is announced") {
  Peer peer(server({"--drift-after=1:description"}), {});
  peer.open();
  const std::string before = peer.request("1", "tools/list")["result"]["tools"].raw;
  peer.call("2", "echo", R"({"text":"x"})");
  CHECK(peer.request("3", "tools/list")["result"]["tools"].raw != before);
  REQUIRE(peer.others.size() == 1);
  CHECK(peer.others[0]["method"].text == "notifications/tools/list_changed");
}

TEST_CASE("a question of the server is answered by the client") {
  Peer peer(server({}), {});
  peer.open();
  peer.send(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"method":"roots/list"}}})");
  const Json question = fake::parse(peer.line().value_or(""));
  CHECK(question["method"].text == "roots/list");
  peer.send(R"({"jsonrpc":"2.0","id":)" + question["id"].raw + R"(,"result":{"roots":[]}})");
  CHECK(fake::text_of(peer.answer("1")) == R"({"roots":[]})");
}

TEST_CASE("silence, crashes and early ends") {
  Peer silent(server({"--silent=tools/call"}), {});
  silent.open();
  CHECK_FALSE(silent.request("1", "tools/call", R"({"name":"echo"})", 50));
  silent.signal(SIGTERM);
  CHECK(silent.wait_exit(2000) == 128 + SIGTERM);

  Peer crashing(server({"--crash=tools/call"}), {});
  crashing.open();
  CHECK_FALSE(crashing.call("1", "echo"));
  CHECK(crashing.wait_exit(2000) == 128 + SIGABRT);

  Peer early(server({"--exit=3"}), {});
  CHECK(early.wait_exit(2000) == 3);
}

TEST_CASE("it can outstay its client, and its grandchild it") {
  const std::string mark = "--mark=fakes-test-" + std::to_string(fake::now_ms());
  {
    Peer peer(server({"--ignore-eof", "--ignore-sigterm", "--grandchild", mark}), {});
    peer.open();
    peer.close_stdin();
    peer.signal(SIGTERM);
    CHECK_FALSE(peer.wait_exit(50));
    CHECK(fake::processes_marked(mark).size() == 2);
  }
  const std::vector<pid_t> left = fake::processes_marked(mark);
  REQUIRE(left.size() == 1);
  ::kill(left[0], SIGKILL);
  CHECK(fake::wait_gone(mark, 2000));
}

TEST_CASE("each spoiled reply is what its name says") {
  const auto first_line = [](const std::string& kind) {
    Peer peer(server({"--reply=ping:" + kind}), {});
    peer.send(R"({"jsonrpc":"2.0","id":5,"method":"ping"})");
    return peer.line().value_or("(nothing)");
  };
  CHECK(first_line("duplicate") == R"({"jsonrpc":"2.0","id":5,"result":{}})");
  CHECK(first_line("unsolicited") == R"({"jsonrpc":"2.0","id":987654,"result":{}})");
  CHECK(first_line("other-id-type") == R"({"jsonrpc":"2.0","id":"5","result":{}})");
  CHECK(first_line("repeat-keys") == R"({"jsonrpc":"2.0","id":5,"result":{},"result":{"content":[]}})");
  CHECK(first_line("array") == R"([{"jsonrpc":"2.0","id":5,"result":{}}])");
  CHECK(first_line("crlf") == "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\r");
}
