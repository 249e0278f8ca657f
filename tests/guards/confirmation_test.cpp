// SPDX-License-Identifier: Apache-2.0
// What scenarios cannot say of an adversary: forging with knowledge of the format, and floods by the hundred.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "core/gate/confirmation.hpp"
#include "core/gate/open_questions.hpp"
#include "core/gate/sealed_state.hpp"
#include "core/gate/session.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::gate;

namespace {

constexpr const char* kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}})";

SessionConfig config() {
  SessionConfig config;
  config.session_id = "t";
  config.policy.server = "fake";
  config.policy.catalog.missing = policy::Missing::flag;
  config.policy.tools.effects[policy::Effect::unknown] = policy::Action::confirm;
  config.confirm_key[0] = 7;
  return config;
}

struct Lines {
  std::vector<std::string> to_client = {};
  std::vector<std::string> to_server = {};
};

Lines lines_of(const Actions& actions) {
  Lines out;
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<ToClient>(&action)) {
      out.to_client.push_back(line->line);
    } else if (const auto* to_server = std::get_if<ToServer>(&action)) {
      out.to_server.push_back(to_server->line);
    }
  }
  return out;
}

Lines say(Session& session, Side side, const std::string& line, Instant now = {1}) {
  return lines_of(session.feed(side, line + "\n", now));
}

std::string put(int id, const std::string& more = {}) {
  return text::cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"tools/call","params":{"name":"put","arguments":{},)",
                   kMeta, more, "}}");
}

// A stateless session in which the call 1 was answered with our question; gives the requestState.
std::string asked_state(Session& session) {
  say(session, Side::client, put(1));
  say(session, Side::server,
      R"({"jsonrpc":"2.0","id":"mcp-cordon/t/1","result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}})");
  const Lines asked = say(
      session, Side::server,
      R"({"jsonrpc":"2.0","id":"mcp-cordon/t/2","result":{"tools":[{"name":"put","inputSchema":{"type":"object"}}]}})");
  REQUIRE(asked.to_client.size() == 1);
  const auto document = json::read(asked.to_client[0], {});
  REQUIRE(document.has_value());
  return document->root().find("result").find("requestState").string();
}

std::string yes(const std::string& state) {
  return text::cat(
      R"(,"inputResponses":{"mcp-cordon/confirm":{"action":"accept","content":{"decision":"allow this call"}}},"requestState":")",
      state, "\"");
}

// A session whose client can be sent to addresses, and a server that sends it there.
Session address_session() {
  SessionConfig config;
  config.session_id = "t";
  config.policy.server = "fake";
  config.policy.catalog.missing = policy::Missing::flag;
  Session session(std::move(config));
  say(session, Side::client,
      R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}}}})");
  say(session, Side::server,
      R"({"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}})");
  say(session, Side::client, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  return session;
}

std::size_t send_to_address(Session& session, std::size_t n, Instant now) {
  const Lines asked = say(
      session, Side::server,
      text::cat(
          R"({"jsonrpc":"2.0","id":)", n,
          R"(,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e)",
          n, "\"}}"),
      now);
  for (const std::string& line : asked.to_client) {
    const auto document = json::read(line, {});
    say(session, Side::client,
        text::cat(R"({"jsonrpc":"2.0","id":)", document->root().find("id").raw(), R"(,"result":{"action":"accept"}})"),
        now);
  }
  return asked.to_client.size();
}

std::size_t complete_address(Session& session, std::size_t n, Instant now) {
  return say(session, Side::server,
             text::cat(R"({"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e)",
                       n, "\"}}"),
             now)
      .to_client.size();
}

}  // namespace

TEST_SUITE_BEGIN("adversary");

// Nobody waits for it any more; a client may have given the id to something else.
TEST_CASE("adversary: address that is completed after its time") {
  Session session = address_session();
  REQUIRE(send_to_address(session, 1, {1'000}) == 1);
  REQUIRE(send_to_address(session, 2, {1'000}) == 1);
  CHECK(complete_address(session, 1, {1'000 + kElicitationMs - 1}) == 1);
  CHECK(complete_address(session, 2, {1'000 + kElicitationMs}) == 0);
}

// As many as a minute lets through, minute after minute, well within the time of each: what is kept is bounded.
TEST_CASE("adversary: flood of addresses") {
  Session session = address_session();
  const std::size_t all = kMaxRememberedElicitations + 5;
  for (std::size_t n = 0; n < all; ++n) {
    REQUIRE(send_to_address(session, n, {1'000 + static_cast<std::int64_t>(n) * 2'000}) == 1);
  }
  const Instant now = {1'000 + static_cast<std::int64_t>(all) * 2'000};
  REQUIRE(now.ms < kElicitationMs);
  CHECK(complete_address(session, 4, now) == 0);
  CHECK(complete_address(session, 5, now) == 1);
  CHECK(complete_address(session, all - 1, now) == 1);
}

// All that the state holds is known to the client; without the key nothing in it can be changed.
TEST_CASE("adversary: approval forged by one who knows the format") {
  const MacKey key = config().confirm_key;
  {
    Session session(config());
    const Lines passed = say(session, Side::client, put(2, yes(asked_state(session))));
    REQUIRE(passed.to_server.size() == 1);  // so it is when nothing is wrong with it
  }
  Session session(config());
  auto state = unseal(key, asked_state(session));
  REQUIRE(state.has_value());
  state->expires = {1'000'000};  // the call's time is prolonged
  MacKey other = {};
  other[0] = 8;
  const Lines refused = say(session, Side::client, put(2, yes(seal(other, *state))), {100'000});
  CHECK(refused.to_server.empty());
  REQUIRE(refused.to_client.size() == 1);
  CHECK(refused.to_client[0].find("confirmation_unavailable") != std::string::npos);
}

TEST_CASE("adversary: approval from another session") {
  Session session(config());
  auto state = unseal(config().confirm_key, asked_state(session));
  REQUIRE(state.has_value());
  state->session = "another";
  const Lines refused = say(session, Side::client, put(2, yes(seal(config().confirm_key, *state))));
  CHECK(refused.to_server.empty());
}

TEST_CASE("adversary: question flood of the server") {
  SessionConfig config;
  config.session_id = "t";
  config.policy.server = "fake";
  config.policy.catalog.missing = policy::Missing::flag;
  config.policy.client_requests.sampling = policy::Action::allow;
  Session session(std::move(config));
  say(session, Side::client,
      R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}}}})");
  say(session, Side::server,
      R"({"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}})");
  say(session, Side::client, R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  const auto ask = [&](std::size_t id) {
    return say(session, Side::server,
               text::cat(R"({"jsonrpc":"2.0","id":)", id,
                         R"(,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}})"));
  };
  std::size_t shown = 0;
  for (std::size_t id = 0; id < 100; ++id) {
    shown += ask(id).to_client.size();
  }
  CHECK(shown == kMaxOpenQuestions);
  // Answered at once, it is the minute that bounds them.
  for (std::size_t i = 1; i <= shown; ++i) {
    say(session, Side::client, text::cat(R"({"jsonrpc":"2.0","id":"mcp-cordon/t/q)", i, R"(","result":{}})"));
  }
  for (std::size_t id = 100; id < 400; ++id) {
    for (const std::string& line : ask(id).to_client) {
      ++shown;
      const auto document = json::read(line, {});
      say(session, Side::client,
          text::cat(R"({"jsonrpc":"2.0","id":)", document->root().find("id").raw(), R"(,"result":{}})"));
    }
  }
  CHECK(shown == kQuestionsPerMinute);
}

TEST_SUITE_END();
