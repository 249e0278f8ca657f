// SPDX-License-Identifier: Apache-2.0
// What scenarios cannot say: deadlines, long lists in pages of our own, digests of arguments.
#include "core/gate/session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/json/read.hpp"

using namespace cordon;
using namespace cordon::gate;

namespace {

std::string definition(std::size_t number, std::size_t bytes) {
  return text::cat(R"({"description":")", std::string(bytes, 'd'), R"(","inputSchema":{},"name":"t)", 10'000 + number,
                   "\"}");
}

SessionConfig config(std::size_t tools, std::size_t bytes) {
  SessionConfig config;
  config.session_id = "t";
  config.snapshot.emplace();
  config.snapshot->server_info = R"({"name":"s","version":"1"})";
  config.snapshot->capabilities = R"({"tools":{}})";
  for (std::size_t i = 0; i < tools; ++i) {
    catalog::PinnedTool tool;
    tool.name = text::cat("t", 10'000 + i);
    tool.definition = definition(i, bytes);
    tool.effect = "read";
    tool.effect_source = catalog::EffectSource::reviewer;
    config.snapshot->tools.push_back(std::move(tool));
  }
  return config;
}

// Plays the opening and the first walk; gives all later lines for the client.
class Player {
 public:
  Player(SessionConfig config, std::size_t tools, std::size_t bytes) : session_(std::move(config)) {
    client(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}})");
    server(
        R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}})");
    client(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    std::string list = R"({"jsonrpc":"2.0","id":"mcp-cordon/t/1","result":{"tools":[)";
    for (std::size_t i = 0; i < tools; ++i) {
      list += (i == 0 ? "" : ",") + definition(i, bytes);
    }
    list_ = list + "]}}";
    server(list_);
  }

  std::vector<std::string> client(const std::string& line) {
    return take(session_.feed(Side::client, line + "\n", {1}));
  }
  std::vector<std::string> server(const std::string& line) {
    return take(session_.feed(Side::server, line + "\n", {1}));
  }
  const std::string& list() const { return list_; }
  const std::vector<std::string>& records() const { return records_; }
  const std::vector<std::string>& overheard() const { return overheard_; }
  const std::string& notices() const { return notices_; }
  Session& session() { return session_; }

 private:
  std::vector<std::string> take(const Actions& actions) {
    std::vector<std::string> lines;
    for (const Action& action : actions) {
      if (const auto* line = std::get_if<ToClient>(&action)) {
        lines.push_back(line->line);
      } else if (const auto* record = std::get_if<Record>(&action)) {
        records_.push_back(record->body);
      } else if (const auto* said = std::get_if<Overheard>(&action)) {
        overheard_.push_back(said->text);
      } else if (const auto* notice = std::get_if<Notice>(&action)) {
        notices_ += notice->text + '\n';
      }
    }
    return lines;
  }

  Session session_;
  std::string list_;
  std::vector<std::string> records_;
  std::vector<std::string> overheard_;
  std::string notices_;
};

}  // namespace

TEST_CASE("what a person is told to type names the policy as it was named to us") {
  constexpr std::string_view kCall = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t10000"}})";
  SessionConfig by_path = config(1, 1);
  by_path.policy.server = "fake";
  by_path.policy.tools.effects[policy::Effect::read] = policy::Action::block;
  SessionConfig by_server = by_path;
  by_path.spelled = "--policy /p/other.yaml";
  Player player(std::move(by_path), 1, 1);
  player.client(std::string(kCall));
  CHECK(player.notices().find("; mcp-cordon explain --policy /p/other.yaml t10000 says more") != std::string::npos);
  Player embedded(std::move(by_server), 1, 1);
  embedded.client(std::string(kCall));
  CHECK(embedded.notices().find("; mcp-cordon explain fake t10000 says more") != std::string::npos);
}

TEST_CASE("a list longer than a line is given in pages of our own") {
  SessionConfig long_list = config(40, 500);
  long_list.policy.messages.max_bytes = 40'000;
  Player player(std::move(long_list), 40, 500);
  std::string cursor;
  std::size_t seen = 0;
  std::size_t pages = 0;
  for (bool more = true; more; ++pages) {
    REQUIRE(pages < 10);
    auto lines = player.client(
        text::cat(R"({"jsonrpc":"2.0","id":)", 100 + pages, R"(,"method":"tools/list","params":{)", cursor, "}}"));
    if (lines.empty()) {
      lines = player.server(text::cat(R"({"jsonrpc":"2.0","id":"mcp-cordon/t/2")",
                                      player.list().substr(player.list().find(",\"result\""))));
    }
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].size() < 40'000);
    const auto document = json::read(lines[0], {});
    REQUIRE(document);
    const json::Value result = document->root().find("result");
    seen += result.find("tools").size();
    const json::Value next = result.find("nextCursor");
    more = static_cast<bool>(next);
    cursor = more ? text::cat("\"cursor\":", next.raw()) : "";
  }
  CHECK(seen == 40);
  CHECK(pages > 1);
  const auto bad =
      player.client(R"({"jsonrpc":"2.0","id":99,"method":"tools/list","params":{"cursor":"mcp-cordon/page/9999"}})");
  REQUIRE(bad.size() == 1);
  CHECK(bad[0].find("-32602") != std::string::npos);
}

TEST_CASE("arguments are recorded as a keyed digest of their canonical form") {
  const auto digest = [](std::uint8_t key, const char* arguments) {
    SessionConfig with_key = config(1, 1);
    with_key.argument_key[0] = key;
    Player player(std::move(with_key), 1, 1);
    player.client(text::cat(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t10000","arguments":)",
                            arguments, "}}"));
    const std::string& record = player.records().back();
    CHECK(record.find("secret") == std::string::npos);
    const std::size_t begin = record.find("hmac-sha256:");
    REQUIRE(begin != std::string::npos);
    return record.substr(begin, 76);
  };
  const std::string first = digest(1, R"({"a":"secret","b":1})");
  CHECK(first == digest(1, R"({ "b":1, "a":"\u0073ecret"})"));
  CHECK(first != digest(2, R"({"a":"secret","b":1})"));
  CHECK(first != digest(1, R"({"a":"secret","b":2})"));
}

TEST_CASE("what a failed call tells the client is overheard, and nothing else is") {
  Player player(config(1, 1), 1, 1);
  const auto answer = [&](int id, std::string_view result) {
    player.client(text::cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"tools/call","params":{"name":"t10000"}})"));
    CHECK(player.server(text::cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":)", result, "}")).size() == 1);
  };
  answer(1, R"({"content":[{"type":"text","text":"EROFS: read-only"}]})");
  answer(2, R"({"content":[{"type":"text","text":"fine"}],"isError":false})");
  CHECK(player.overheard().empty());
  answer(
      3,
      R"({"content":[{"type":"image"},{"type":"text","text":"EROFS: x"},{"type":"text","text":"y"}],"isError":true})");
  CHECK(player.overheard() == std::vector<std::string>{"EROFS: x"});
}

TEST_CASE("a session wants time only while something waits for it") {
  SessionConfig failed;
  failed.launch_failure = Error{Errc::policy_invalid, "x", {}, {}};
  Session session(std::move(failed));
  REQUIRE(session.next_deadline().has_value());
  CHECK(session.tick({5'000}).empty());
  CHECK(session.next_deadline() == Instant{15'000});

  Player player(config(1, 1), 1, 1);
  CHECK(player.session().next_deadline() == Instant{300'001});
  player.session().end(Side::client, {10});
  CHECK(player.session().next_deadline() == Instant{1'310});
}
