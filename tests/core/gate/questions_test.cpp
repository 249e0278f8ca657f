// SPDX-License-Identifier: Apache-2.0
// Questions of the server under load and in any order, which scenarios cannot say.
#include "core/gate/questions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "core/gate/elicitation.hpp"
#include "core/gate/open_questions.hpp"
#include "core/gate/own_name.hpp"
#include "core/gate/session.hpp"
#include "core/wire/message.hpp"

using namespace cordon;
using namespace cordon::gate;

namespace {

SessionConfig config() {
  SessionConfig config;
  config.session_id = "t";
  config.policy.server = "fake";
  config.policy.catalog.missing = policy::Missing::flag;
  config.policy.tools.effects[policy::Effect::unknown] = policy::Action::allow;
  config.policy.client_requests.sampling = policy::Action::allow;
  return config;
}

struct Lines {
  std::vector<std::string> to_client = {};
  std::vector<std::string> to_server = {};
  std::size_t records = 0;
};

// A learned session whose client offers everything.
class Talk {
 public:
  Talk() : session_(config()) {
    client(
        R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{},"roots":{}}}})");
    server(
        R"({"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}})");
    client(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    server(R"({"jsonrpc":"2.0","id":"mcp-cordon/t/1","result":{"tools":[{"name":"get","inputSchema":{}}]}})");
  }
  Lines client(const std::string& line) { return take(session_.feed(Side::client, line + "\n", now)); }
  Lines server(const std::string& line) { return take(session_.feed(Side::server, line + "\n", now)); }
  Instant now = {1};

 private:
  static Lines take(const Actions& actions) {
    Lines out;
    for (const Action& action : actions) {
      if (const auto* line = std::get_if<ToClient>(&action)) {
        out.to_client.push_back(line->line.substr(0, line->line.size() - 1));
      } else if (const auto* reply = std::get_if<ToServer>(&action)) {
        out.to_server.push_back(reply->line.substr(0, reply->line.size() - 1));
      } else if (std::holds_alternative<Record>(action)) {
        ++out.records;
      }
    }
    return out;
  }
  Session session_;
};

std::string question(std::size_t id, std::string_view method = "sampling/createMessage") {
  return text::cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":")", method,
                   R"(","params":{"message":"m","requestedSchema":{},"tag":)", id, "}}");
}

wire::Message parsed(const std::string& line) {
  auto message = wire::parse(line, {});
  REQUIRE(message.has_value());
  return std::move(*message);
}

}  // namespace

TEST_CASE("only so many questions wait for a person, and the rest is refused at once") {
  Talk talk;
  for (std::size_t i = 0; i < kMaxOpenQuestions; ++i) {
    REQUIRE(talk.server(question(i)).to_client.size() == 1);
  }
  const Lines first = talk.server(question(100));
  CHECK(first.to_client.empty());
  REQUIRE(first.to_server.size() == 1);
  CHECK(first.to_server[0].find("rate_limited") != std::string::npos);
  CHECK(first.records == 1);
  const Lines second = talk.server(question(101, "elicitation/create"));
  REQUIRE(second.to_server.size() == 1);
  CHECK(second.to_server[0].find(kCancelled) != std::string::npos);
  CHECK(second.records == 0);
  // Pings of the server are no burden for anybody.
  CHECK(talk.server(R"({"jsonrpc":"2.0","id":102,"method":"ping"})").to_client.size() == 1);
  talk.client(R"({"jsonrpc":"2.0","id":"mcp-cordon/t/q1","result":{}})");
  CHECK(talk.server(question(103)).to_client.size() == 1);
}

TEST_CASE("only so many questions are asked in a minute, answered or not") {
  Talk talk;
  for (std::size_t i = 0; i < kQuestionsPerMinute; ++i) {
    REQUIRE(talk.server(question(i, "roots/list")).to_server.size() == 1);
  }
  const Lines refused = talk.server(question(100, "roots/list"));
  REQUIRE(refused.to_server.size() == 1);
  CHECK(refused.to_server[0].find("rate_limited") != std::string::npos);
  CHECK(talk.server(question(101, "roots/list")).records == 0);
  talk.now = {60'002};
  CHECK(talk.server(question(102, "roots/list")).to_server[0].find("rate_limited") == std::string::npos);
}

// Ids of both sides are the same small numbers; what waits is answered in any order.
TEST_CASE("every question and every call gets its own answer, once, in any order") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Talk talk;
    std::vector<std::string> at_client;    // questions that the client has not answered
    std::vector<std::size_t> at_server;    // calls that the server has not answered
    std::map<std::size_t, int> calls;      // answers per call
    std::map<std::size_t, int> questions;  // answers per question
    std::size_t next_call = 0;
    std::size_t next_question = 0;
    const auto take = [&](const Lines& lines) {
      for (const std::string& line : lines.to_client) {
        const wire::Message message = parsed(line);
        if (message.kind == wire::MessageKind::request) {
          at_client.push_back(line);
        } else {
          const auto id = static_cast<std::size_t>(*message.document.root().find("id").safe_integer());
          CHECK(message.result.find("tag").raw() == text::cat("\"c", id, '"'));
          ++calls[id];
        }
      }
      for (const std::string& line : lines.to_server) {
        const wire::Message message = parsed(line);
        const auto id = static_cast<std::size_t>(*message.document.root().find("id").safe_integer());
        if (message.kind == wire::MessageKind::request) {
          at_server.push_back(id);
        } else {
          CHECK(message.result.find("tag").raw() == text::cat("\"q", id, '"'));
          ++questions[id];
        }
      }
    };
    const auto pick = [&](auto& from) {
      const std::size_t index = random() % from.size();
      auto one = from[index];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
      return one;
    };
    for (int step = 0; step < 60 || !at_client.empty() || !at_server.empty(); ++step) {
      const unsigned choice = random() % 4;
      if (choice == 0 && step < 60) {
        take(talk.client(
            text::cat(R"({"jsonrpc":"2.0","id":)", next_call++, R"(,"method":"tools/call","params":{"name":"get"}})")));
      } else if (choice == 1 && step < 60 && at_client.size() < kMaxOpenQuestions) {
        take(talk.server(question(next_question++)));
      } else if (choice == 2 && !at_client.empty()) {
        const wire::Message asked = parsed(pick(at_client));
        take(talk.client(text::cat(R"({"jsonrpc":"2.0","id":)", asked.id->json(), R"(,"result":{"tag":"q)",
                                   asked.params.find("tag").raw(), "\"}}")));
      } else if (choice == 3 && !at_server.empty()) {
        const std::size_t id = pick(at_server);
        take(
            talk.server(text::cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":{"content":[],"tag":"c)", id, "\"}}")));
      }
    }
    CHECK(calls.size() == next_call);
    CHECK(questions.size() == next_question);
    const auto once = [](const auto& entry) { return entry.second == 1; };
    CHECK(std::ranges::all_of(calls, once));
    CHECK(std::ranges::all_of(questions, once));
  }
}

TEST_CASE("folders become addresses byte by byte") {
  CHECK(roots_result({}) == R"({"roots":[]})");
  CHECK(roots_result({"/a b/ü%", "/x"}) == R"({"roots":[{"uri":"file:///a%20b/%C3%BC%25"},{"uri":"file:///x"}]})");
}

TEST_CASE("an address leads to one plain host or nowhere") {
  const auto host = [](std::string_view url, std::vector<std::string> hosts = {}) {
    const auto found = host_of_address(url, hosts);
    return found ? *found : std::string();
  };
  CHECK(host("https://Login.Example.org:8443/a?b=c#d") == "login.example.org");
  CHECK(host("https://login.example.org?x") == "login.example.org");
  CHECK(host("https://xn--bcher-kva.example") == "xn--bcher-kva.example");
  for (const char* url : {"",
                          "https://",
                          "http://a.example",
                          "https://a.example\\@b.example",
                          "https://a@b.example",
                          "https://a.example:",
                          "https://a.example:x",
                          "https://a..example",
                          "https://-a.example",
                          "https://127.0.0.1",
                          "https://0x7f.1",
                          "https://a.localhost",
                          "https://printer.local",
                          "https://metadata.google.internal/",
                          "https://router.lan/",
                          "https://nas.home.arpa/",
                          "https://x.localdomain/",
                          "https://a_b.example",
                          "https://a%2eexample",
                          "https:a.example",
                          "https://a.example/\x01",
                          "https://a.example/\xc3\xbc",
                          "data:text/html,x",
                          "file:///etc/passwd"}) {
    CAPTURE(url);
    CHECK(host(url).empty());
  }
  CHECK(host("https://localhost/", {"localhost"}) == "localhost");
  CHECK(host("https://b.example/", {"a.example"}).empty());
}

TEST_CASE("our name is told apart from words that only resemble it") {
  CHECK(names_us("MCP-Cordon"));
  CHECK(
      names_us("m\xCC\x81"
               "cp cord0n"));
  CHECK_FALSE(names_us("an MCP server asks the cordon"));
  CHECK_FALSE(names_us(""));
}

TEST_CASE("the completion of an address is told once, within an hour, and the oldest is forgotten first") {
  const Instant start = {1};
  OpenQuestions questions;
  questions.remember_elicitation("a", start);
  questions.remember_elicitation("b", start);
  questions.remember_elicitation("c", start + 10);
  questions.remember_elicitation("", start);
  questions.remember_elicitation(std::string(257, 'x'), start);
  CHECK(questions.elicitations.size() == 3);
  CHECK(questions.take_elicitation("a", start + (kElicitationMs - 1)));
  CHECK_FALSE(questions.take_elicitation("a", start + (kElicitationMs - 1)));
  CHECK_FALSE(questions.take_elicitation("b", start + kElicitationMs));
  CHECK(questions.take_elicitation("c", start + kElicitationMs));
  CHECK_FALSE(questions.take_elicitation("d", start));
  // A second question with the same id does not make it told twice.
  questions.remember_elicitation("a", start);
  questions.remember_elicitation("a", start + 1);
  CHECK(questions.take_elicitation("a", start + 2));
  CHECK_FALSE(questions.take_elicitation("a", start + 2));
  // Full: the oldest goes, and its completion does not pass; a later one is remembered.
  for (std::size_t i = 0; i < kMaxRememberedElicitations + 2; ++i) {
    questions.remember_elicitation(text::cat("e", i), start + static_cast<std::int64_t>(i));
  }
  CHECK(questions.elicitations.size() == kMaxRememberedElicitations);
  CHECK_FALSE(questions.take_elicitation("e0", start + 300));
  CHECK_FALSE(questions.take_elicitation("e1", start + 300));
  CHECK(questions.take_elicitation("e2", start + 300));
  CHECK(questions.take_elicitation(text::cat("e", kMaxRememberedElicitations + 1), start + 300));
}
