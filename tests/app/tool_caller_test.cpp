// SPDX-License-Identifier: Apache-2.0
#include "app/tool_caller.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace cordon;
using app::ToolAnswer;
using app::ToolCaller;

namespace {

std::string lines(const gate::Actions& actions) {
  std::string out;
  for (const gate::Action& action : actions) {
    if (const auto* line = std::get_if<gate::ToServer>(&action)) {
      out += line->line;
    } else if (std::get_if<gate::CloseServerInput>(&action) != nullptr) {
      out += "close\n";
    } else if (std::get_if<gate::Stop>(&action) != nullptr) {
      out += "stop\n";
    }
  }
  return out;
}

Instant at(std::int64_t ms) { return Instant{ms}; }

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

ToolCaller caller(gate::Opening opening = gate::Opening::initialize) {
  return ToolCaller({.tool = "t",
                     .arguments = {R"({"a":1})", R"({"a":2})"},
                     .opening = opening,
                     .version = "1",
                     .limits = json::Limits{},
                     .answer_timeout_ms = 1000});
}

std::string result(int id, const std::string& json = "{}") {
  return R"({"jsonrpc":"2.0","id":"mcp-cordon/probe/)" + std::to_string(id) + R"(","result":)" + json + "}\n";
}

}  // namespace

TEST_CASE("the tool is called once for each set of arguments, one after the other") {
  ToolCaller one = caller();
  CHECK(says(lines(one.start(at(0))), R"("method":"initialize")"));
  const std::string first = lines(one.feed(result(1), at(1)));
  CHECK(says(first, "notifications/initialized"));
  CHECK(says(first, R"("params":{"name":"t","arguments":{"a":1}})"));
  CHECK_FALSE(says(first, R"({"a":2})"));
  CHECK(says(lines(one.feed(result(2, R"({"content":[]})"), at(2))), R"("arguments":{"a":2})"));
  CHECK(says(lines(one.feed(R"({"jsonrpc":"2.0","id":"mcp-cordon/probe/3","error":{"code":1,"message":"no"}})"
                            "\n",
                            at(3))),
             "close\n"));
  CHECK(says(lines(one.exited({}, at(4))), "stop\n"));
  const auto answers = one.take_answers();
  REQUIRE(answers.has_value());
  CHECK(answers->at(0).kind == ToolAnswer::Kind::result);
  CHECK(answers->at(0).json == R"({"content":[]})");
  CHECK(answers->at(1).kind == ToolAnswer::Kind::error);
}

TEST_CASE("a call without an answer is one, and the next is made") {
  ToolCaller one = caller();
  (void)one.start(at(0));
  (void)one.feed(result(1), at(0));
  CHECK(one.next_deadline() == at(1000));
  CHECK(says(lines(one.tick(at(1000))), R"("arguments":{"a":2})"));
  CHECK(lines(one.feed(result(2, R"({"late":1})"), at(1001))).empty());
  (void)one.feed(result(3), at(1002));
  (void)one.exited({}, at(1003));
  const auto answers = one.take_answers();
  REQUIRE(answers.has_value());
  CHECK(answers->at(0).kind == ToolAnswer::Kind::none);
  CHECK(answers->at(1).kind == ToolAnswer::Kind::result);
}

TEST_CASE("a server that refuses the opening, or is gone before it, gives an error") {
  ToolCaller refused = caller();
  (void)refused.start(at(0));
  (void)refused.feed(R"({"jsonrpc":"2.0","id":"mcp-cordon/probe/1","error":{"code":-32601,"message":"no"}})"
                     "\n",
                     at(1));
  CHECK(refused.take_answers().error().code == Errc::method_not_allowed);
  ToolCaller gone = caller();
  (void)gone.start(at(0));
  (void)gone.exited({.code = 3}, at(1));
  CHECK(gone.take_answers().error().code == Errc::server_exited);
  ToolCaller silent = caller();
  (void)silent.start(at(0));
  CHECK(says(lines(silent.tick(at(1000))), "close\n"));
  CHECK(silent.take_answers().error().code == Errc::timed_out);
  CHECK(caller().take_answers().error().code == Errc::timed_out);
}

TEST_CASE("one that ends between calls leaves the rest unanswered") {
  ToolCaller one = caller();
  (void)one.start(at(0));
  (void)one.feed(result(1), at(1));
  (void)one.feed(result(2), at(2));
  (void)one.end(at(3));
  (void)one.exited({}, at(4));
  const auto answers = one.take_answers();
  REQUIRE(answers.has_value());
  CHECK(answers->at(0).kind == ToolAnswer::Kind::result);
  CHECK(answers->at(1).kind == ToolAnswer::Kind::none);
}

TEST_CASE("in the stateless era every request says who asks") {
  ToolCaller one = caller(gate::Opening::discover);
  CHECK(says(lines(one.start(at(0))), R"("method":"server/discover")"));
  const std::string first = lines(one.feed(result(1), at(1)));
  CHECK_FALSE(says(first, "notifications/initialized"));
  CHECK(says(first, "io.modelcontextprotocol/protocolVersion"));
}

TEST_CASE("a server's own requests are answered without giving anything") {
  ToolCaller one = caller();
  (void)one.start(at(0));
  CHECK(says(lines(one.feed(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                            "\n",
                            at(1))),
             R"("result":{})"));
  CHECK(says(lines(one.feed(R"({"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{}})"
                            "\n",
                            at(1))),
             "decline"));
  CHECK(says(lines(one.feed(R"({"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{}})"
                            "\n",
                            at(1))),
             "error"));
}
