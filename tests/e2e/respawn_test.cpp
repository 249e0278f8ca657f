// SPDX-License-Identifier: Apache-2.0
// A server that ends when a client asks it for the stateless era is started once more, and only then.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/fixture.hpp"

using e2e::Fixture;
using fake::Json;

namespace {

constexpr const char* kExits = "--exit-on-probe";
constexpr const char* kProbeId = "\"server-discover-probe-1\"";
constexpr const char* kProbe =
    R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}})";
constexpr const char* kInitialize =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Of /proc: the process may go while it is read, which is no exception but an end.
std::string all_of(const std::string& path) {
  std::string text(4096, '\0');
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t length = fd < 0 ? 0 : ::read(fd, text.data(), text.size());
  if (fd >= 0) ::close(fd);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

// Stages that wait for a second launch, below this process.
std::vector<pid_t> spares_of(pid_t parent) {
  std::vector<pid_t> found;
  const std::string process = "/proc/" + std::to_string(parent);
  std::istringstream children(all_of(process + "/task/" + std::to_string(parent) + "/children"));
  for (pid_t child = 0; children >> child;) {
    const std::string line = all_of("/proc/" + std::to_string(child) + "/cmdline");
    if (holds(line, "stage") && holds(line, "spare")) found.push_back(child);
  }
  return found;
}

// A process that has ended and was not waited for yet counts as gone.
bool wait_no_spare(const std::vector<pid_t>& spares) {
  const std::int64_t until = fake::now_ms() + 5'000;
  for (const pid_t spare : spares) {
    const std::string stat = "/proc/" + std::to_string(spare) + "/stat";
    for (std::string state = all_of(stat); !state.empty() && !holds(state, ") Z"); state = all_of(stat)) {
      if (fake::now_ms() > until) return false;
    }
  }
  return true;
}

void check_probe(fake::Peer& peer) {
  const Json found = peer.request(kProbeId, "server/discover", kProbe);
  INFO(found.raw, "\n", peer.stderr_text());
  CHECK(found["error"]["code"].text == "-32601");
}

void finish_opening(fake::Peer& peer) {
  const Json opened = peer.request("1", "initialize", kInitialize);
  INFO(opened.raw, "\n", peer.stderr_text());
  REQUIRE(opened["result"]);
  peer.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

std::string audit_of(const Fixture& fixture) {
  const auto shown = fixture.start({"audit", "show", "--policy", fixture.folder() + "/fake.yaml"});
  shown->close_stdin();
  std::string text;
  while (const auto line = shown->line()) text += *line + "\n";
  return text;
}

}  // namespace

TEST_CASE("a server that ends on the probe is started once more, and the client opens it by handshake") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run(kExits);
  check_probe(*peer);
  finish_opening(*peer);
  CHECK(peer->request("2", "tools/list")["result"]["tools"].items.size() == 7);
  CHECK(fake::text_of(peer->call("3", "echo", R"({"text":"x"})")) == "x");
  // The second one is held like the first, and its stderr is relayed.
  CHECK(fake::text_of(peer->call("4", "env", R"({"name":"HOME"})")) == "/home/cordon");
  CHECK(e2e::refused(peer->call("5", "env", R"({"name":"SECRET"})")));
  CHECK(e2e::refused(peer->call("6", "read_file", R"({"path":")" + fixture.folder() + R"(/outside/secret.txt"})")));
  CHECK(fake::text_of(peer->call("7", "read_file", R"({"path":")" + fixture.granted("hello.txt") + R"("})")) ==
        "hello from inside\n");
  CHECK(peer->wait_stderr("asked for initialize"));
  CHECK(peer->others.empty());
  CHECK(peer->stray.empty());
  peer->close_stdin();
  CHECK(peer->wait_exit(2500) == 0);
  CHECK(fake::wait_gone(fixture.mark(), 1000));
  const std::string log = audit_of(fixture);
  CHECK(count(log, " respawn ") == 1);
  CHECK(count(log, " launch ") == 2);  // one is the review's
  CHECK(log.find(" exit ") < log.find(" respawn "));
}

TEST_CASE("a client that does not wait for the second server loses nothing") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run(kExits);
  peer->send(std::string(R"({"jsonrpc":"2.0","id":"p","method":"server/discover","params":)") + kProbe + "}");
  REQUIRE(peer->answer("\"p\"")["error"]["code"].text == "-32601");
  peer->send(std::string(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":)") + kInitialize + "}");
  peer->send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  for (int id = 2; id < 22; ++id) {
    peer->send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
               R"(,"method":"tools/call","params":{"name":"echo","arguments":{"text":")" + std::to_string(id) +
               R"("}}})");
  }
  CHECK(peer->answer("1")["result"]);
  for (int id = 2; id < 22; ++id) CHECK(fake::text_of(peer->answer(std::to_string(id))) == std::to_string(id));
  CHECK(peer->others.empty());
}

TEST_CASE("a server that ends on everything has one more chance and no other") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--exit-on-probe --crash=initialize");
  check_probe(*peer);
  CHECK(e2e::error_type(peer->request("1", "initialize", kInitialize)) == "server_exited");
  CHECK(peer->wait_exit(2000) == 69);
  CHECK(peer->others.empty());
  CHECK(count(audit_of(fixture), " respawn ") == 1);
  CHECK(fake::wait_gone(fixture.mark(), 1000));
}

TEST_CASE("a second probe does not start a third server") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run(kExits);
  check_probe(*peer);
  check_probe(*peer);
  CHECK(peer->wait_stderr("the server ends when it is asked server/discover"));
  CHECK(e2e::error_type(peer->request("1", "initialize", kInitialize)) == "server_exited");
  CHECK(peer->wait_exit(2000) == 69);
  CHECK(count(audit_of(fixture), " respawn ") == 1);
}

TEST_CASE("a crash later is no reason to start anything") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  SUBCASE("after an opening by handshake") {
    const auto peer = fixture.opened("--crash=tools/call");
    CHECK(e2e::error_type(peer->call("1", "echo", R"({"text":"x"})")) == "server_exited");
    CHECK(peer->wait_exit(2000) == 69);
  }
  SUBCASE("of the second server") {
    const auto peer = fixture.run("--exit-on-probe --crash=tools/call");
    check_probe(*peer);
    finish_opening(*peer);
    CHECK(e2e::error_type(peer->call("2", "echo", R"({"text":"x"})")) == "server_exited");
    CHECK(peer->wait_exit(2000) == 69);
    CHECK(count(audit_of(fixture), " respawn ") == 1);
    return;
  }
  CHECK(count(audit_of(fixture), " respawn ") == 0);
}

TEST_CASE("the launch that is kept ready goes when it is not needed any more") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run(kExits);
  const std::int64_t until = fake::now_ms() + 5'000;
  std::vector<pid_t> spares;
  while (spares.empty() && fake::now_ms() < until) spares = spares_of(peer->pid());
  REQUIRE(spares.size() == 1);
  SUBCASE("the client opens by handshake") {
    REQUIRE(peer->open()["result"]);
    CHECK(wait_no_spare(spares));
    CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"x"})")) == "x");
  }
  SUBCASE("the client leaves") {
    peer->close_stdin();
    CHECK(peer->wait_exit(2500));
    CHECK(wait_no_spare(spares));
  }
  SUBCASE("mcp-cordon is killed") {
    peer->signal(SIGKILL);
    CHECK(peer->wait_exit(2000));
    CHECK(wait_no_spare(spares));
    CHECK(fake::wait_gone(fixture.mark(), 2000));
  }
}

TEST_CASE("mcp-cordon killed after a respawn leaves nothing behind") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--exit-on-probe --ignore-eof --ignore-sigterm --grandchild");
  check_probe(*peer);
  finish_opening(*peer);
  CHECK(fake::text_of(peer->call("2", "echo", R"({"text":"x"})")) == "x");
  SUBCASE("by SIGKILL") {
    peer->signal(SIGKILL);
    CHECK(peer->wait_exit(2000) == 128 + SIGKILL);
    CHECK(fake::wait_gone(fixture.mark(), 2000));
  }
  SUBCASE("by SIGTERM, within a second") {
    const std::int64_t began = fake::now_ms();
    peer->signal(SIGTERM);
    CHECK(peer->wait_exit(2000));
    CHECK(fake::wait_gone(fixture.mark(), 500));
    CHECK(fake::now_ms() - began <= 1000);
  }
  SUBCASE("by the end of its input, within two") {
    const std::int64_t began = fake::now_ms();
    peer->close_stdin();
    CHECK(peer->wait_exit(2500) == 0);
    CHECK(fake::wait_gone(fixture.mark(), 500));
    CHECK(fake::now_ms() - began <= 2000);
  }
}

TEST_CASE("paths are judged in the second server's view") {
  if (std::getenv("CORDON_TEST_IMAGE") != nullptr) return;  // nobody can look into a container's
  Fixture fixture;
  fixture.write_policy(
      Fixture::kPinned, {},
      "{tools: [read_file], arguments: {/path: {within: [\"" + fixture.folder() + "/data\"]}}, action: allow}");
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run(kExits);
  check_probe(*peer);
  finish_opening(*peer);
  const auto read = [&](const std::string& id, const std::string& path) {
    return peer->call(id, "read_file", R"({"path":")" + path + R"("})");
  };
  const Json inside = read("2", fixture.granted("hello.txt"));
  INFO(inside.raw);
  CHECK(fake::text_of(inside) == "hello from inside\n");
  // A link that only the view of the running server has.
  const Json outside = read("3", fixture.granted("../outside/secret.txt"));
  CHECK(holds(outside.raw, "argument_denied"));
  CHECK(holds(read("4", "/tmp/x").raw, "argument_denied"));
}

TEST_CASE("a program that was changed meanwhile is not started once more") {
  if (std::getenv("CORDON_TEST_IMAGE") != nullptr) return;  // an image does not change
  Fixture fixture;
  const std::string server = fixture.own_server();
  fixture.write_policy(Fixture::kPinned, server);
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--exit-on-probe --banner");
  REQUIRE(peer->wait_stderr("[info] ready"));   // the first launch is over
  REQUIRE(::chmod(server.c_str(), 0755) == 0);  // moves its time of change
  check_probe(*peer);
  CHECK(peer->wait_stderr("changed since the server was started first"));
  CHECK(e2e::error_type(peer->request("1", "initialize", kInitialize)) == "server_exited");
  CHECK(peer->wait_exit(2000) == 69);
}
