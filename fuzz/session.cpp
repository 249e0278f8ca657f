// SPDX-License-Identifier: Apache-2.0
// A conversation, one event per line of the input: 'C' or 'S' and the bytes that side writes (with LF; 'c', 's'
// without), 'T' time, 'E' and 'F' ends of stream, 'X' exit, 'Q' SIGTERM. An 'L' in front starts after a learned
// catalog.
//
// What must hold whatever comes: chunking does not matter; every line we write is one JSON object; a call goes to the
// server only if it is of the one allowed tool, as reviewed, and after its record; no id is answered more often than it
// was asked; the client's members under our prefix never reach the server; a question of the server reaches the client
// under an id of ours, with the server's name in front, and gets at most one answer; after Stop nothing comes.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "core/gate/session.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/wire/message.hpp"
#include "core/wire/scan_id.hpp"
#include "core/wire/synth.hpp"

using namespace cordon;
using gate::Side;

namespace {

constexpr std::string_view kGet = R"({"description":"Reads","inputSchema":{"type":"object"},"name":"get"})";
constexpr std::string_view kPut = R"({"description":"Writes","inputSchema":{"type":"object"},"name":"put"})";
constexpr std::string_view kJob =
    R"({"description":"Runs","execution":{"taskSupport":"optional"},"inputSchema":{"type":"object"},"name":"job"})";
constexpr std::string_view kTasks =
    R"("extensions":{"io.modelcontextprotocol/tasks":{}},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}})";

gate::SessionConfig config() {
  gate::SessionConfig config;
  config.policy.server = "fake";
  config.policy.messages = {.max_bytes = 4096, .max_depth = 16, .in_flight = 4};
  config.policy.messages.answer_timeout_seconds = 30;
  config.policy.tools.schema = policy::SchemaCheck::enforce;
  config.policy.tools.rules.push_back({.tools = {"*"}, .calls_per_minute = 40, .calls_in_flight = 3});
  config.policy.results.hidden_text = policy::Results::Treatment::strip;
  config.policy.results.secrets = policy::Results::Secrets::redact;
  config.policy.results.structured = policy::SchemaCheck::enforce;
  config.session_id = "t";
  config.snapshot.emplace();
  config.snapshot->server_info = R"({"name":"fake","version":"1"})";
  config.snapshot->capabilities = text::cat(R"({"logging":{},"tools":{"listChanged":true},)", kTasks, "}");
  for (const std::string_view definition : {kGet, kJob, kPut}) {
    catalog::PinnedTool tool;
    tool.name = definition == kGet ? "get" : definition == kJob ? "job" : "put";
    tool.definition = definition;
    tool.digest = catalog::tool_digest(definition);
    tool.effect = definition == kPut ? "write" : "read";
    tool.effect_source = catalog::EffectSource::reviewer;
    config.snapshot->tools.push_back(std::move(tool));
  }
  return config;
}

std::vector<std::string> prelude() {
  return {
      R"(C{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})",
      text::cat(
          R"(S{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{},)",
          kTasks, R"(},"serverInfo":{"name":"fake","version":"1"}}})"),
      R"(C{"jsonrpc":"2.0","method":"notifications/initialized"})",
      text::cat(R"(S{"jsonrpc":"2.0","id":"mcp-cordon/t/1","result":{"tools":[)", kGet, ",", kJob, ",", kPut, "]}}"),
  };
}

// What one action is, for comparing two runs.
std::string shown(const gate::Action& action) {
  std::string out = std::to_string(action.index());
  if (const auto* line = std::get_if<gate::ToServer>(&action)) {
    out += line->line;
  } else if (const auto* reply = std::get_if<gate::ToClient>(&action)) {
    out += reply->line;
  } else if (const auto* record = std::get_if<gate::Record>(&action)) {
    out += record->body;
  } else if (const auto* notice = std::get_if<gate::Notice>(&action)) {
    out += notice->text;
  } else if (const auto* stray = std::get_if<gate::Stray>(&action)) {
    out += stray->bytes;
  } else if (const auto* stop = std::get_if<gate::Stop>(&action)) {
    out += std::to_string(stop->exit_status);
  }
  return out + "\n";
}

// An upper bound of how often a side asked each id: every line, and every element of a batch, that shows one.
class Asked {
 public:
  void count(std::string_view bytes) {
    stream_ += bytes;
    for (std::size_t end = stream_.find('\n'); end != std::string::npos; end = stream_.find('\n')) {
      const std::string line = stream_.substr(0, end);
      stream_.erase(0, end + 1);
      if (const auto document = json::read(line, {})) {
        for (const json::Value element : document->root().elements()) {
          ++asked_[element.find("id") ? json::canonical(element.find("id")) : ""];
        }
      }
      if (const auto id = wire::scan_id(line).id) {
        ++asked_[id->json()];
      }
    }
  }
  void answered(const wire::Message& message) {
    CORDON_ASSERT(message.id.has_value());
    CORDON_ASSERT(++answered_[message.id->json()] <= asked_[message.id->json()]);
  }

 private:
  std::string stream_;
  std::map<std::string, int> asked_;
  std::map<std::string, int> answered_;
};

class Run {
 public:
  explicit Run(std::size_t chunk) : chunk_(chunk), session_(config()) {}

  std::string play(const std::vector<std::string>& events) {
    for (const std::string& event : events) {
      act(event);
    }
    return trace_;
  }

 private:
  void feed(Side side, std::string_view bytes) {
    Asked& asked = side == Side::client ? client_ : server_;
    asked.count(bytes);
    for (std::size_t i = 0; i < bytes.size(); i += chunk_) {
      note(session_.feed(side, bytes.substr(i, chunk_), now_));
    }
  }

  void act(const std::string& event) {
    const std::string_view rest = std::string_view(event).substr(1);
    switch (event.front()) {
      case 'C':
        return feed(Side::client, std::string(rest) + "\n");
      case 'S':
        return feed(Side::server, std::string(rest) + "\n");
      case 'c':
        return feed(Side::client, rest);
      case 's':
        return feed(Side::server, rest);
      case 'T':
        now_ = now_ + static_cast<std::int64_t>(rest.size() * rest.size() * 100);
        return note(session_.tick(now_));
      case 'E':
        return note(session_.end(Side::client, now_));
      case 'F':
        return note(session_.end(Side::server, now_));
      case 'X':
        return note(session_.exited({false, 0}, now_));
      case 'Q':
        return note(session_.terminate(now_));
      default:
        return;
    }
  }

  void note(const gate::Actions& actions) {
    CORDON_ASSERT(!stopped_ || actions.empty());
    for (const gate::Action& action : actions) {
      CORDON_ASSERT(!stopped_);
      trace_ += shown(action);
      if (const auto* to_server = std::get_if<gate::ToServer>(&action)) {
        check_to_server(to_server->line);
      } else if (const auto* to_client = std::get_if<gate::ToClient>(&action)) {
        check_to_client(to_client->line);
      } else if (const auto* record = std::get_if<gate::Record>(&action)) {
        const auto body = json::read(record->body, {});
        CORDON_ASSERT(body && body->root().find("event"));
        const json::Value decision = body->root().find("decision");
        if (body->root().find("event").string_equals("call") &&
            (decision.string_equals("allow") || decision.string_equals("confirm"))) {
          recorded_ = body->root().find("tool").string() + " " + decision.string();
        }
      }
      stopped_ = std::holds_alternative<gate::Stop>(action);
    }
  }

  static wire::Message one_message(std::string line) {
    CORDON_ASSERT(line.ends_with('\n') && line.find('\n') == line.size() - 1);
    line.pop_back();
    auto message = wire::parse(std::move(line), {});
    CORDON_ASSERT(message.has_value());
    return std::move(*message);
  }

  void check_to_server(const std::string& line) {
    const wire::Message message = one_message(line);
    CORDON_ASSERT(!wire::has_own_meta(message.document.root()));
    if (message.method == "tools/call") {
      CORDON_ASSERT(message.kind == wire::MessageKind::request);
      const bool get = message.params.find("name").string_equals("get");
      CORDON_ASSERT(recorded_ == (get ? "get allow" : "put confirm"));
      recorded_.clear();
    }
    if (message.kind == wire::MessageKind::result || message.kind == wire::MessageKind::error) {
      server_.answered(message);
    }
    CORDON_ASSERT(message.method.find("sampling") == std::string::npos);
    CORDON_ASSERT(!message.params.find("capabilities").find("sampling"));
    CORDON_ASSERT(!message.method.starts_with("prompts/") && !message.method.starts_with("resources/"));
  }

  // The one thing that is said to the client and is no message to us: an id that programs read differently, given back.
  static bool repeats_odd_id(const std::string& line) {
    const auto document = json::read(line.substr(0, line.size() - 1), {});
    return document && document->root().find("error").is(json::Kind::object) &&
           document->root().find("id").is(json::Kind::number) && !document->root().find("result") &&
           !document->root().find("method") && !wire::parse(line.substr(0, line.size() - 1), {});
  }

  void check_to_client(const std::string& line) {
    if (repeats_odd_id(line)) {
      return;
    }
    const wire::Message message = one_message(line);
    if (message.kind == wire::MessageKind::result || message.kind == wire::MessageKind::error) {
      client_.answered(message);
      for (const json::Member one : message.result.find("inputRequests").members()) {
        const bool own = one.key.string_equals("mcp-cordon/confirm");
        (own ? check_own_question : check_question)(one.value.find("method").string(), one.value.find("params"));
      }
      for (const json::Value tool : message.result.find("tools").elements()) {
        // Only our own list answers have tools with our annotations; a call's result may carry any member.
        CORDON_ASSERT(!tool.find("annotations").find("readOnlyHint") || !wire::has_own_meta(tool));
      }
    } else if (message.kind == wire::MessageKind::request && !message.id->text().starts_with("mcp-cordon/t/q")) {
      CORDON_ASSERT(message.id->text().starts_with("mcp-cordon/t/"));
      check_own_question(message.method, message.params);
    } else if (message.kind == wire::MessageKind::request) {
      CORDON_ASSERT(message.id->text().starts_with("mcp-cordon/t/q"));
      CORDON_ASSERT(questions_.insert(std::string(message.id->text())).second);
      if (message.method != "ping") {
        check_question(message.method, message.params);
      }
    }
  }

  // About the one tool that wants a person's word.
  static void check_own_question(const std::string& method, const json::Value& params) {
    CORDON_ASSERT(method == "elicitation/create");
    CORDON_ASSERT(params.find("message").string().starts_with(
        "mcp-cordon asks for fake: may this call be made?\n\n    tool: put\n    effect: write\n"));
  }

  static void check_question(const std::string& method, const json::Value& params) {
    CORDON_ASSERT(method == "elicitation/create");
    CORDON_ASSERT(params.find("message").string().starts_with("fake asks: "));
    CORDON_ASSERT(params.find("_meta").find("dev.mcp-cordon/flagged").boolean());
  }

  std::size_t chunk_;
  gate::Session session_;
  Instant now_ = {1'000};
  bool stopped_ = false;
  std::string recorded_;  // the call that may go on, and why
  std::string trace_;
  Asked client_;
  Asked server_;
  std::set<std::string> questions_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> events;
  if (input.starts_with('L')) {
    events = prelude();
    input.remove_prefix(1);
  }
  for (const std::string_view line : text::split(input, '\n')) {
    if (!line.empty() && events.size() < 64) {
      events.emplace_back(line);
    }
  }
  const std::string whole = Run(std::size_t{1} << 30U).play(events);
  CORDON_ASSERT(Run(1).play(events) == whole);
  CORDON_ASSERT(Run(1 + size % 13).play(events) == whole);
  return 0;
}
