// SPDX-License-Identifier: Apache-2.0
// Noise, silence, crashes and ends: the client is answered, and nothing is left behind.

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "e2e/fixture.hpp"

using e2e::Fixture;
using fake::Json;

namespace {

constexpr const char* kStubborn = "--ignore-eof --ignore-sigterm --grandchild";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("stray lines go to stderr with the server's name, and the session lives on") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened("--banner --chatter --stderr=3");
  CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"x"})")) == "x");
  CHECK(peer->stray.empty());
  CHECK(peer->wait_stderr("[fake]"));
  CHECK(peer->wait_stderr("stray line"));
  CHECK_FALSE(holds(peer->stderr_text(), "\x1b[31m"));
}

TEST_CASE("a flood of notifications does not drown a call") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened("--flood=20000");
  CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"x"})")) == "x");
}

TEST_CASE("a result of nine megabytes passes, a larger one than allowed becomes an error") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened();
  CHECK(fake::text_of(peer->call("1", "big", R"({"bytes":9437184})")).size() == 9437184);
  CHECK(e2e::refused(peer->call("2", "big", R"({"bytes":12000000})")));
  CHECK(fake::text_of(peer->call("3", "echo", R"({"text":"x"})")) == "x");
}

TEST_CASE("a reply that two readers could read differently becomes an error, once") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const std::string kind : {"repeat-keys", "escaped-repeat", "case-repeat", "both"}) {
    CAPTURE(kind);
    const auto peer = fixture.opened("--reply=tools/call:" + kind);
    const Json answer = peer->call("1", "echo", R"({"text":"x"})");
    CHECK(e2e::refused(answer));
    CHECK(holds(answer.raw, "message_ambiguous"));
    CHECK(peer->request("2", "ping")["result"]);
  }
}

TEST_CASE("a reply that is no message of ours never reaches the client, the right one does once") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  for (const std::string kind : {"duplicate", "unsolicited", "other-id-type", "crlf"}) {
    CAPTURE(kind);
    const auto peer = fixture.opened("--reply=tools/call:" + kind);
    CHECK(fake::text_of(peer->call("1", "echo", R"({"text":"x"})")) == "x");
    CHECK(peer->request("2", "ping")["result"]);
    CHECK(peer->others.empty());
    CHECK(peer->stray.empty());
  }
}

TEST_CASE("a server that dies in a call leaves an answer behind") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened("--crash=tools/call");
  const Json answer = peer->call("1", "echo", R"({"text":"x"})");
  CHECK(e2e::error_type(answer) == "server_exited");
  CHECK(peer->wait_exit(2000).value_or(0) != 0);
}

TEST_CASE("a server that ends before it reads leaves an answer too") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--exit=3");
  CHECK(e2e::error_type(peer->open()) == "server_exited");
}

TEST_CASE("a silent server holds nobody beyond the end of the input") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.run("--silent=all --ignore-eof --ignore-sigterm");
  CHECK_FALSE(peer->request(
      "1", "initialize",
      R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}})", 100));
  CHECK(peer->wait_stderr("asked for initialize"));
  peer->close_stdin();
  CHECK(peer->wait_exit(2000));
  CHECK(fake::wait_gone(fixture.mark(), 2000));
}

TEST_CASE("after the end of the input all is gone within two seconds") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened(kStubborn);
  CHECK(fake::processes_marked(fixture.mark()).size() >= 2);
  const std::int64_t began = fake::now_ms();
  peer->close_stdin();
  CHECK(peer->wait_exit(2500) == 0);
  CHECK(fake::wait_gone(fixture.mark(), 500));
  CHECK(fake::now_ms() - began <= 2000);
}

TEST_CASE("after SIGTERM all is gone within a second") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened(kStubborn);
  const std::int64_t began = fake::now_ms();
  peer->signal(SIGTERM);
  CHECK(peer->wait_exit(2000));
  CHECK(fake::wait_gone(fixture.mark(), 500));
  CHECK(fake::now_ms() - began <= 1000);
}

TEST_CASE("SIGKILL leaves no orphan") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto peer = fixture.opened(kStubborn);
  CHECK(fake::processes_marked(fixture.mark()).size() >= 2);
  peer->signal(SIGKILL);
  CHECK(peer->wait_exit(2000) == 128 + SIGKILL);
  CHECK(fake::wait_gone(fixture.mark(), 2000));
}

TEST_CASE("a launch that fails still speaks MCP") {
  Fixture fixture;
  SUBCASE("nothing was reviewed yet") {
    const auto peer = fixture.run();
    CHECK(e2e::error_type(peer->open()) == "snapshot_missing");
    CHECK(peer->wait_exit(2000).value_or(0) >= 64);
    CHECK(fake::processes_marked(fixture.mark()).empty());
  }
  SUBCASE("the command does not exist") {
    REQUIRE(fixture.review() == "");
    fixture.write_policy(Fixture::kPinned, "/nowhere/at/all");
    const auto peer = fixture.run();
    const std::string type = e2e::error_type(peer->open());
    CHECK((type == "launch_failed" || type == "launch_changed"));
    CHECK(peer->wait_exit(2000).value_or(0) >= 64);
  }
  SUBCASE("the policy is not valid") {
    fixture.write_policy("catalogue: {}\n");
    const auto peer = fixture.run();
    CHECK(e2e::error_type(peer->open()) == "policy_invalid");
    CHECK(peer->wait_exit(2000).value_or(0) >= 64);
    CHECK(holds(peer->stderr_text(), "catalogue"));
  }
}

TEST_CASE("two processes of one server live side by side, and each is judged") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  const auto first = fixture.opened();
  const auto second = fixture.opened("--drift=description");
  CHECK(fake::text_of(first->call("1", "echo", R"({"text":"x"})")) == "x");
  CHECK(holds(second->call("1", "echo", R"({"text":"x"})").raw, "tool_changed"));
}

TEST_CASE("what happened stands in an audit log that verifies") {
  Fixture fixture;
  REQUIRE(fixture.review() == "");
  {
    const auto peer = fixture.opened();
    peer->call("1", "echo", R"({"text":"x"})");
    peer->call("2", "write_file", R"({"path":"x","text":"y"})");
    peer->close_stdin();
    CHECK(peer->wait_exit(2000) == 0);
  }
  const auto shown = fixture.start({"audit", "show", "--policy", fixture.folder() + "/fake.yaml"});
  shown->close_stdin();
  std::string text;
  while (const auto line = shown->line()) text += *line + "\n";
  CHECK(shown->wait_exit(2000) == 0);
  CHECK(holds(text, "echo"));
  CHECK(holds(text, "write_file"));
  const auto verified = fixture.start({"audit", "verify", "--policy", fixture.folder() + "/fake.yaml"});
  verified->close_stdin();
  CHECK(verified->wait_exit(2000) == 0);
}
