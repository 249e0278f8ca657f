// SPDX-License-Identifier: Apache-2.0
#include "core/gate/collector.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace cordon;
using namespace cordon::gate;

namespace {

// Lines for the server, and "STOP n", one per line.
std::string shown(const Actions& actions) {
  std::string out;
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<ToServer>(&action)) {
      out += line->line;
    } else if (const auto* stop = std::get_if<Stop>(&action)) {
      out += "STOP " + std::to_string(stop->exit_status) + "\n";
    } else if (std::holds_alternative<SignalServer>(action)) {
      out += "SIGNAL\n";
    } else if (const auto* stray = std::get_if<Stray>(&action)) {
      out += "STRAY " + stray->bytes + "\n";
    }
  }
  return out;
}

struct Fixture {
  Collector collector{CollectorConfig{.version = "0"}};
  Instant now = {1'000};

  std::string feed(std::string line) { return shown(collector.feed(line + "\n", now)); }
  std::string after(std::int64_t ms) {
    now = now + ms;
    return shown(collector.tick(now));
  }
  void open() {
    const std::string asked = shown(collector.start(now));
    CHECK(asked.find(R"("id":"mcp-cordon/capture/1","method":"initialize")") != std::string::npos);
    CHECK(asked.find(R"("sampling")") != std::string::npos);
    CHECK(
        feed(
            R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/1","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"version":"1","name":"s"},"instructions":"hi"}})") ==
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    CHECK(after(300).find(R"("id":"mcp-cordon/capture/2","method":"tools/list")") != std::string::npos);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a catalog is collected over all pages") {
  open();
  CHECK(feed("a banner") == "STRAY a banner\n");
  CHECK(feed(R"({"jsonrpc":"2.0","id":9,"method":"roots/list"})") ==
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"roots\":[]}}\n");
  CHECK(
      feed(
          R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/2","result":{"tools":[{"name":"b","inputSchema":{}}],"nextCursor":"x"}})")
          .find(R"("cursor":"x")") != std::string::npos);
  CHECK(
      feed(
          R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/3","result":{"tools":[{"name":"a","inputSchema":{},"x":1.0}]}})") ==
      "SIGNAL\n");
  CHECK(shown(collector.exited({}, now)) == "STOP 0\n");
  const auto catalog = collector.take_result();
  REQUIRE(catalog);
  REQUIRE(catalog->tools.size() == 2);
  CHECK(catalog->tools[1].definition == R"({"inputSchema":{},"name":"a","x":1.0})");
  CHECK(catalog->instructions == "hi");
  CHECK(catalog->server_info == R"({"name":"s","version":"1"})");
  CHECK(catalog->protocol_versions == std::vector<std::string>{"2025-06-18"});
}

TEST_CASE_FIXTURE(Fixture, "a refused opening can be told from other failures") {
  shown(collector.start(now));
  feed(R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/1","error":{"code":-32601,"message":"no"}})");
  CHECK(shown(collector.exited({}, now)) == "STOP 82\n");
  const auto catalog = collector.take_result();
  REQUIRE(!catalog);
  CHECK(catalog.error().code == Errc::method_not_allowed);
}

TEST_CASE_FIXTURE(Fixture, "a silent server times out and is ended") {
  open();
  CHECK(after(30'000) == "SIGNAL\n");
  CHECK(after(700) == "SIGNAL\n");
  CHECK(shown(collector.exited({}, now)) == "STOP 90\n");
  CHECK(collector.take_result().error().code == Errc::timed_out);
}

TEST_CASE_FIXTURE(Fixture, "a server that dies on the way gives no catalog") {
  open();
  CHECK(shown(collector.exited({.signalled = true, .code = 9}, now)).ends_with("STOP 69\n"));
  CHECK(collector.take_result().error().detail == "the server was ended by signal 9 before its catalog was complete");
}

TEST_CASE("a list of resources that fails is left out and said; a list of tools that fails is the end") {
  for (const bool of_tools : {false, true}) {
    Collector collector(CollectorConfig{.version = "0"});
    Instant now = {1'000};
    const auto line = [&](int id, const std::string& what) {
      return collector.feed(R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/)" + std::to_string(id) + "\"," + what + "}\n",
                            now);
    };
    const std::string failure = R"("error":{"code":-32603,"message":"fetch failed"})";
    collector.start(now);
    line(1, R"("result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},)"
            R"("serverInfo":{"name":"s","version":"1"}})");
    now = now + 300;
    collector.tick(now);
    if (of_tools) {
      CHECK(shown(line(2, failure)) == "SIGNAL\n");
      collector.exited({}, now);
      CHECK(collector.take_result().error().code == Errc::catalog_invalid);
      continue;
    }
    line(2, R"("result":{"tools":[{"name":"t","inputSchema":{}}]})");
    const Actions actions = line(3, failure);
    CHECK(shown(actions).find("resources/templates/list") != std::string::npos);
    REQUIRE(std::holds_alternative<Notice>(actions.front()));
    CHECK(std::get<Notice>(actions.front()).text.find("-32603: fetch failed: nothing of this list") !=
          std::string::npos);
    line(4, R"("result":{"resourceTemplates":[]})");
    collector.exited({}, now);
    const auto catalog = collector.take_result();
    REQUIRE(catalog);
    CHECK(catalog->tools.size() == 1);
    CHECK(catalog->resources.empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "a list that changes while it is walked is walked again") {
  open();
  feed(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  CHECK(feed(R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/2","result":{"tools":[]}})")
            .find(R"("id":"mcp-cordon/capture/3","method":"tools/list")") != std::string::npos);
}

TEST_CASE("every kind of list is walked, what is data or stands there twice is left out, and interfaces are read") {
  CollectorConfig config{.version = "0"};
  config.policy.catalog.dynamic = {"file:///data/*"};
  Collector collector(std::move(config));
  Instant now = {1'000};
  const auto answer = [&](int id, const std::string& result) {
    return shown(collector.feed(
        R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/)" + std::to_string(id) + R"(","result":)" + result + "}\n", now));
  };
  collector.start(now);
  answer(1, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},)"
            R"("serverInfo":{"name":"s","version":"1"}})");
  now = now + 300;
  CHECK(shown(collector.tick(now)).find("tools/list") != std::string::npos);
  CHECK(answer(2, R"({"tools":[{"name":"t","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://t"}}},)"
                  R"({"name":"u","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://u"}}}]})")
            .find("prompts/list") != std::string::npos);
  CHECK(answer(3, R"({"prompts":[{"name":"p"},{"name":"bad","arguments":{}}]})").find("resources/list") !=
        std::string::npos);
  CHECK(answer(4, R"({"resources":[{"uri":"a://b","name":"n"},{"uri":"file:///data/x","name":"n"},)"
                  R"({"uri":"a://c","name":"n"},{"uri":"a://c","name":"m"}]})")
            .find("resources/templates/list") != std::string::npos);
  CHECK(answer(5, R"({"resourceTemplates":[{"uriTemplate":"a://{x}","name":"n"}]})").find(R"("uri":"ui://t")") !=
        std::string::npos);
  CHECK(answer(6, R"({"contents":[{"uri":"ui://t","text":"x"}]})").find(R"("uri":"ui://u")") != std::string::npos);
  CHECK(shown(collector.feed(R"({"jsonrpc":"2.0","id":"mcp-cordon/capture/7","error":{"code":-32602,"message":"no"}})"
                             "\n",
                             now)) == "SIGNAL\n");
  collector.exited({}, now);
  const auto catalog = collector.take_result();
  REQUIRE(catalog);
  CHECK(catalog->tools[0].interface.starts_with("sha256:"));
  CHECK(catalog->tools[1].interface.empty());
  REQUIRE(catalog->prompts.size() == 1);
  CHECK(catalog->prompts[0].key == "p");
  REQUIRE(catalog->resources.size() == 1);
  CHECK(catalog->resources[0].key == "a://b");
  REQUIRE(catalog->templates.size() == 1);
}
