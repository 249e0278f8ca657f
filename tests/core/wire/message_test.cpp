// SPDX-License-Identifier: Apache-2.0
#include "core/wire/message.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cordon::wire;

namespace {

std::string verdict(std::string line) {
  const auto message = parse(std::move(line), {});
  if (message) {
    switch (message->kind) {
      case MessageKind::request:
        return "request " + message->method + " " + message->id_json() + (message->modern() ? " modern" : "");
      case MessageKind::notification:
        return "notification " + message->method;
      case MessageKind::result:
        return "result " + message->id_json();
      case MessageKind::error:
        return "error " + (message->id ? message->id_json() : "-");
    }
  }
  const Refused& refused = message.error();
  return std::string(cordon::name(refused.error.code)) + " " + (refused.id ? refused.id->json() : "-") +
         (refused.is_json_rpc ? "" : " stray");
}

}  // namespace

TEST_CASE("messages of each kind are told apart") {
  CHECK(verdict(R"({"jsonrpc":"2.0","id":0,"method":"ping"})") == "request ping 0");
  CHECK(verdict(R"({"method":"ping","params":{},"id":"","jsonrpc":"2.0"})") == "request ping \"\"");
  CHECK(verdict(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                "\r") == "notification notifications/initialized");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"result":{},"extra":[1e999]})") == "result 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})") == "error 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}})") == "error -");
  CHECK(
      verdict(
          R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})") ==
      "request x 1 modern");
}

TEST_CASE("what has more than one meaning is ambiguous, and the id is told where it can be") {
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"a"})") == "message_ambiguous -");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","Method":"b"})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","result":{}})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"result":{}})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"params":{},"result":{}})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1.0,"method":"a"})") == "message_ambiguous -");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a\u0000"})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"\udfff"}})") == "message_ambiguous 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":1.5}}})") ==
        "message_ambiguous 1");
}

TEST_CASE("what is no message is malformed") {
  CHECK(verdict(R"({"jsonrpc":"2.0","id":null,"method":"a"})") == "message_malformed -");
  CHECK(verdict(R"({"jsonrpc":"1.0","id":1,"method":"a"})") == "message_malformed 1");
  CHECK(verdict(R"({"id":1,"method":"a"})") == "message_malformed 1 stray");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":5})") == "message_malformed 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","params":[]})") == "message_malformed 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"result":[]})") == "message_malformed 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"error":"x"})") == "message_malformed 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","result":{}})") == "message_malformed -");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1})") == "message_malformed 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":1}})") == "message_malformed 1");
  CHECK(verdict("{\"jsonrpc\":\"2.0\",\r\"id\":1,\"method\":\"a\"}") == "message_malformed 1");
  CHECK(verdict(R"({"jsonrpc":"2.0","id":1,"method":"a"} {})") == "message_malformed 1");
  CHECK(verdict(R"([{"jsonrpc":"2.0","id":1,"method":"a"}])") == "message_malformed -");
}

TEST_CASE("lines that do not claim to be JSON-RPC are stray") {
  for (const char* line : {"", "Server ready", "{\"level\":\"info\"}", "{", "12", "\"x\"", "null"}) {
    CAPTURE(line);
    CHECK(verdict(line) == "message_malformed - stray");
  }
}

TEST_CASE("the text of an accepted line comes back unchanged but for the CR") {
  const std::string line = R"({"id": 1, "method":"x","jsonrpc":"2.0","params":{"n":1e400,"m":-0,"s":"\ud83d"}})";
  auto message = parse(line + "\r", {});
  REQUIRE(message);
  CHECK(std::move(message->document).take_text() == line);
}

TEST_CASE("a batch is split into its elements, unchanged") {
  const auto lines = split_batch(R"([{"a": 1}, {"b":2}])", {}, 2);
  REQUIRE(lines);
  CHECK(*lines == std::vector<std::string>{R"({"a": 1})", R"({"b":2})"});
  const auto odd = split_batch(R"([[{"a":1}], 5])", {}, 2);
  REQUIRE(odd);
  CHECK(*odd == std::vector<std::string>{R"([{"a":1}])", "5"});
  CHECK(!split_batch("[]", {}, 2));
  CHECK(!split_batch("[1,2,3]", {}, 2));
}
