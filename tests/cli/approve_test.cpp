// SPDX-License-Identifier: Apache-2.0
// A call that waits for a person on another terminal, with the real program and real terminals.
#include <doctest/doctest.h>

#include <csignal>
#include <memory>
#include <string>

#include "cli/place.hpp"
#include "cli/terminal_session.hpp"

using namespace cli_test;

namespace {

// A session of a client without forms, and the ID of a call that waits in it.
struct Waiting {
  Place place = {};
  std::unique_ptr<fake::Peer> peer = {};
  std::string id = {};

  explicit Waiting(const std::string& confirm = "{timeout_seconds: 60}") {
    place.policy(
        "catalog: {accept_unattended: true}\ntools:\n  rules: [{tools: [echo], action: confirm}]\n  confirm: " +
        confirm + "\n");
    REQUIRE(place.accept_all().status == 0);
    peer = std::make_unique<fake::Peer>(place.argv({"run", "--policy", place.at("one.yaml")}), place.environment());
    // A client that shows no forms.
    REQUIRE(peer->request(
        "0", "initialize",
        R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}})")["result"]);
    peer->send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    call("2", "first");
    id = waiting_id();
  }
  void call(const std::string& number, const std::string& text) const {
    peer->send(R"({"jsonrpc":"2.0","id":)" + number +
               R"(,"method":"tools/call","params":{"name":"echo","arguments":{"text":")" + text + "\"}}}");
  }
  std::string waiting_id() const {
    REQUIRE_MESSAGE(peer->wait_stderr("mcp-cordon approve "), peer->stderr_text());
    const std::string text = peer->stderr_text();
    return text.substr(text.rfind("mcp-cordon approve ") + 19, 8);
  }
  std::unique_ptr<TerminalSession> approve(const Words& more = {}) const {
    Words words = {"approve"};
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<TerminalSession>(place.argv(words), place.environment({"TERM=xterm", "NO_COLOR=1"}));
  }
};

// The word that is asked for.
std::string word_at(TerminalSession& terminal) {
  REQUIRE_MESSAGE(terminal.wait_for("; n refuses it"), terminal.shown());
  const std::string shown = terminal.between();
  return shown.substr(shown.rfind("type ") + 5);
}

}  // namespace

TEST_CASE("a call waits until a person at another terminal types the word") {
  const Waiting session;
  const auto terminal = session.approve({session.id});
  const std::string word = word_at(*terminal);
  CHECK(holds(terminal->between(), "mcp-cordon asks for one: may this call be made?"));
  CHECK(holds(terminal->between(), "\"text\": \"first\""));
  terminal->type("y");
  REQUIRE(terminal->wait_for("That is not the word."));
  // Nothing reached the server meanwhile: another call is answered first.
  CHECK(session.peer->request("9", "ping")["result"]);
  terminal->type(word);
  CHECK(terminal->wait_exit() == 0);
  CHECK(holds(terminal->shown(), session.id + " was allowed"));
  CHECK(fake::text_of(session.peer->answer("2")) == "first");
  // And only that one.
  session.call("3", "first");
  CHECK(session.peer->wait_stderr("mcp-cordon approve "));
  CHECK(session.peer->others.empty());
}

TEST_CASE("a person at another terminal refuses, and it stays refused") {
  const Waiting session;
  const auto terminal = session.approve();
  word_at(*terminal);
  terminal->type("n");
  CHECK(terminal->wait_exit() == 0);
  const fake::Json answer = session.peer->answer("2");
  CHECK(answer["result"]["isError"].text == "true");
  CHECK(holds(answer.raw, "confirmation_declined"));
  session.call("3", "first");
  CHECK(holds(session.peer->answer("3").raw, "confirmation_declined"));
}

TEST_CASE("of two terminals the first decides") {
  const Waiting session;
  const auto first = session.approve({session.id});
  const auto second = session.approve({session.id});
  const std::string word = word_at(*first);
  const std::string other = word_at(*second);
  CHECK(word != other);
  first->type("n");
  CHECK(first->wait_exit() == 0);
  second->type(other);
  CHECK(second->wait_exit() == 79);
  CHECK(holds(second->shown(), "on another terminal"));
  CHECK(holds(session.peer->answer("2").raw, "confirmation_declined"));
}

TEST_CASE("without a terminal nobody decides") {
  const Waiting session;
  fake::Peer piped(session.place.argv({"approve", session.id}), session.place.environment());
  piped.send("y");
  piped.close_stdin();
  CHECK(piped.wait_exit(fake::Peer::kPatienceMs) == 92);
  CHECK(session.peer->request("9", "ping")["result"]);
  CHECK(session.peer->others.empty());
}

TEST_CASE("what waited is gone with its session") {
  const Waiting session;
  session.peer->signal(SIGKILL);
  session.peer->wait_exit(fake::Peer::kPatienceMs);
  const auto one = session.approve({session.id});
  CHECK(one->wait_exit() == 79);
  const auto all = session.approve();
  CHECK(all->wait_exit() == 0);
  CHECK(holds(all->shown(), "no call waits"));
}

TEST_CASE("a call that the client gives up does not wait any more") {
  const Waiting session;
  session.peer->send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  CHECK(session.peer->request("9", "ping")["result"]);
  const auto terminal = session.approve({session.id});
  CHECK(terminal->wait_exit() == 79);
}

TEST_CASE("nobody answers in time") {
  const Waiting session("{timeout_seconds: 5}");
  CHECK(holds(session.peer->answer("2").raw, "timed_out"));
}
