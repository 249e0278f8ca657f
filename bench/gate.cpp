// SPDX-License-Identifier: Apache-2.0
// The gate alone, in this process: what of a call's cost is thinking, and what is pipes, polling and files.
#include "core/gate/session.hpp"

#include <time.h>

#include <variant>

#include "base/text.hpp"
#include "core/catalog/diff.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "setup.hpp"

namespace cordon::bench {
namespace {

using gate::Side;

constexpr int kCalls = 20'000;
constexpr std::string_view kTool =
    R"({"name":"tool_0","description":"Looks up a record.","inputSchema":{"type":"object",)"
    R"("properties":{"query":{"type":"string"},"size":{"type":"integer"}}}})";
constexpr std::string_view kServerInfo = R"({"name":"bench","version":"1"})";

gate::SessionConfig config() {
  const Result<json::Document> tool = json::read(std::string(kTool), json::Limits{});
  catalog::Catalog live;
  live.tools.push_back({"tool_0", json::canonical(tool->root())});
  live.server_info = kServerInfo;
  live.capabilities = R"({"tools":{}})";
  live.protocol_versions = {"2025-11-25"};
  Result<catalog::Snapshot> snapshot = catalog::as_candidate("bench", live, nullptr);
  if (!snapshot) {
    die(snapshot.error().to_string());
  }
  snapshot->reviewed = true;
  gate::SessionConfig config;
  config.policy.server = "bench";
  policy::Rule rule;
  rule.tools = {"*"};
  rule.action = policy::Action::allow;
  config.policy.tools.rules.push_back(rule);
  config.snapshot = *std::move(snapshot);
  config.session_id = "bench";
  return config;
}

// Answers what the gate itself asks of the server.
void answer_own_lists(gate::Session& session, const gate::Actions& actions) {
  for (const gate::Action& action : actions) {
    const auto* line = std::get_if<gate::ToServer>(&action);
    if (line == nullptr || line->line.find("\"tools/list\"") == std::string::npos) {
      continue;
    }
    const Result<json::Document> request = json::read(line->line, json::Limits{});
    session.feed(Side::server,
                 text::cat("{\"jsonrpc\":\"2.0\",\"id\":", request->root().find("id").raw(), ",\"result\":{\"tools\":[",
                           kTool, "]}}\n"),
                 Instant{1});
  }
}

void open(gate::Session& session) {
  session.feed(Side::client,
               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
               "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n",
               Instant{1});
  session.feed(Side::server,
               text::cat("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\","
                         "\"capabilities\":{\"tools\":{}},\"serverInfo\":",
                         kServerInfo, "}}\n"),
               Instant{1});
  answer_own_lists(
      session,
      session.feed(Side::client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n", Instant{1}));
}

// Processor time, so that a busy machine does not count.
std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Microseconds for one call of 300 B and its result of 300 B.
double call_us(gate::Session& session, int& last_id) {
  const std::string query(180, 'q');
  const std::string answer(230, 'a');
  const std::int64_t begin = cpu_ns();
  for (int i = 0; i < kCalls; ++i) {
    const int id = ++last_id;
    const gate::Actions forwarded =
        session.feed(Side::client,
                     text::cat("{\"jsonrpc\":\"2.0\",\"id\":", id,
                               ",\"method\":\"tools/call\",\"params\":{\"name\":\"tool_0\",\"arguments\":{\"size\":225,"
                               "\"query\":\"",
                               query, "\"}}}\n"),
                     Instant{2});
    const gate::Actions answered =
        session.feed(Side::server,
                     text::cat("{\"jsonrpc\":\"2.0\",\"id\":", id,
                               ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"", answer, "\"}]}}\n"),
                     Instant{2});
    if (forwarded.empty() || answered.empty() || !std::holds_alternative<gate::ToServer>(forwarded.back())) {
      die("the gate did not let the call through");
    }
  }
  return static_cast<double>(cpu_ns() - begin) / 1000 / kCalls;
}

}  // namespace

void measure_gate(Setup& setup, Report& report) {
  report.section(
      text::cat("Gate alone: a call of 300 B and its result through the session, no input or output, best "
                "of ",
                setup.options().rounds));
  gate::Session session(config());
  open(session);
  int last_id = 0;
  std::vector<double> values;
  for (int round = 0; round < setup.options().rounds; ++round) {
    values.push_back(call_us(session, last_id));
  }
  report.row("per call", text::cat(fixed(lowest(values), 2), " us"));
}

}  // namespace cordon::bench
