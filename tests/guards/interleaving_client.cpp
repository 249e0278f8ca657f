// SPDX-License-Identifier: Apache-2.0
// The client of the world: what it asks, cancels, answers and hears.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "interleaving_world.hpp"

namespace cordon::test {

using wire::MessageKind;

namespace {

constexpr std::string_view kConfirm = "mcp-cordon/confirm";

std::size_t number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  return at == std::string_view::npos ? 0 : std::stoul(std::string(text.substr(at + word.size(), 12)));
}

}  // namespace

void World::client_says(std::string line) {
  note("client >     ", line);
  from_client_ += line + '\n';
}

// A new one, sometimes a small number that the server uses as well, or one whose request was answered.
std::string World::fresh_id() {
  if (!free_ids_.empty() && chance(20)) {
    const std::size_t at = pick(free_ids_.size());
    std::string id = free_ids_[at];
    free_ids_.erase(free_ids_.begin() + static_cast<std::ptrdiff_t>(at));
    return id;
  }
  ++ids_;
  return chance(70) ? std::to_string(ids_) : text::cat("\"", ids_, "\"");
}

std::string World::meta(std::size_t n, bool stateless) {
  std::string out = text::cat(R"("_meta":{"n":)", n);
  if (stateless) {
    out += text::cat(R"(,"io.modelcontextprotocol/protocolVersion":"2026-07-28",)",
                     R"("io.modelcontextprotocol/clientCapabilities":{)", forms_ ? R"("elicitation":{},)" : "",
                     tasks_ ? R"("extensions":{"io.modelcontextprotocol/tasks":{}},)" : "",
                     R"("sampling":{},"roots":{}})");
  }
  return out + text::cat(R"(,"progressToken":)", n % 2 == 0 ? std::to_string(n) : text::cat("\"p", n, '"'), '}');
}

void World::open() {
  if (probes_first_) {
    probe();
  } else if (!stateless_) {
    client_opens();
  } else if (chance(50)) {
    client_sends({.id = fresh_id(), .method = "server/discover"}, "");
  }
}

void World::client_opens() {
  Request request{.id = fresh_id(), .method = "initialize"};
  client_sends(std::move(request), text::cat(R"("protocolVersion":"2025-11-25","capabilities":{)",
                                             forms_ ? R"("elicitation":{},)" : "", R"("sampling":{},"roots":{}})"));
  if (chance(50)) {
    client_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    saw("does not wait for its handshake");
  }
}

void World::client_sends(Request request, const std::string& params) {
  request.n = requests_.size();
  request.line =
      text::cat(R"({"jsonrpc":"2.0","id":)", request.id, R"(,"method":")", request.method, R"(","params":{)", params,
                params.empty() ? "" : ",", meta(request.n, stateless_ || request.method == "server/discover"), "}}");
  open_[request.id] = request.n;
  saw(request.retry ? "retry" : request.tool.empty() ? request.method : request.tool);
  client_says(request.line);
  requests_.push_back(std::move(request));
}

void World::client_asks() {
  constexpr std::array kTools =
      std::to_array<std::string_view>({"get", "get", "get", "put", "put", "put", "slow", "drop", "nosuch"});
  if (chance(45) && std::ranges::any_of(jobs_, &Job::known)) {
    client_asks_about_task();
    return;
  }
  const std::size_t what = pick(100);
  Request request{.id = fresh_id(), .tag = ++tags_};
  if (what < 65) {
    request.method = "tools/call";
    request.tool = kTools.at(pick(kTools.size()));
    request.wants_task = !stateless_ && chance(40);
    const std::string params = text::cat(R"("name":")", request.tool, R"(","arguments":{"tag":)", request.tag, '}',
                                         request.wants_task ? R"(,"task":{"ttl":600000})" : "");
    client_sends(std::move(request), params);
  } else if (what < 72) {
    request.method = "prompts/get";
    client_sends(std::move(request), R"("name":"hello")");
  } else if (what < 79) {
    request.method = "resources/read";
    client_sends(std::move(request), R"("uri":"demo://1")");
  } else if (what < 89) {
    request.method = chance(60) ? "tools/list" : chance(50) ? "prompts/list" : "resources/list";
    client_sends(std::move(request), "");
  } else if (stateless_) {
    request.method = "server/discover";
    client_sends(std::move(request), "");
  } else if (what < 95) {
    request.method = "ping";
    client_sends(std::move(request), "");
  } else {
    request.method = "logging/setLevel";
    client_sends(std::move(request), R"("level":"info")");
  }
}

void World::client_cancels() {
  if (open_.empty()) {
    return;
  }
  const auto at = std::next(open_.begin(), static_cast<std::ptrdiff_t>(pick(open_.size())));
  Request& request = requests_[at->second];
  if (request.method == "initialize" || request.method == "server/discover") {
    return;  // the openings; without their answers little passes
  }
  request.cancelled = true;
  if (request.method == "subscriptions/listen") {
    jobs_[*request.job].news_may_be_lost = true;
  }
  request.cancelled_in_time = !request.allowed;
  saw("cancel");
  client_says(text::cat(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)", request.id,
                        stateless_ ? R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})" : "",
                        "}}"));
  open_.erase(at);
}

void World::client_answers() {
  if (asked_.empty()) {
    return;
  }
  const std::size_t at = pick(asked_.size());
  const Asked asked = std::move(asked_[at]);
  asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(at));
  client_answers(asked);
  if (chance(15)) {
    saw("answers twice");
    client_answers(asked);
  }
}

void World::client_answers(const Asked& asked) {
  const auto reply = [&](std::string_view body) {
    client_says(text::cat(R"({"jsonrpc":"2.0","id":)", asked.id, ',', body, '}'));
  };
  if (!asked.ours) {
    const std::string mark = text::cat('a', ++marks_);
    Question& question = questions_[asked.tag];
    if (question.said.empty()) {
      question.said = mark;
    }
    reply(text::cat(R"("result":{"action":"accept","content":{},"_meta":{"mark":")", mark, "\"}}"));
    return;
  }
  const std::size_t what = pick(10);
  if (what < 7) {
    for (Request& request : requests_) {
      // A yes after a cancellation, or after another answer to the same question, is none.
      if (request.tag == asked.tag && !request.cancelled) {
        request.allowed = true;
      }
    }
    saw("form accepted");
    reply(R"("result":{"action":"accept","content":{"decision":"allow this call"}})");
  } else if (what < 9) {
    saw("form declined");
    reply(chance(50) ? R"("result":{"action":"decline"})" : R"("result":{"action":"cancel"})");
  } else {
    saw("form failed");
    reply(R"("error":{"code":-32603,"message":"no"})");
  }
}

void World::client_hears(const Message& message) {
  if (message.kind == MessageKind::request) {
    client_hears_question(message);
  } else if (message.kind != MessageKind::notification) {
    client_hears_reply(message);
  } else if (message.method == "notifications/progress") {
    client_hears_progress(message);
  } else if (message.method == "notifications/message") {
    heard_.push_back(static_cast<std::size_t>(message.params.find("data").safe_integer().value_or(0)));
  } else if (message.method == "notifications/cancelled") {
    const std::string id(message.params.find("requestId").raw());
    saw("question taken back");
    for (const Asked& asked : asked_) {
      if (asked.id == id && !asked.ours) {
        questions_[asked.tag].withdrawn = true;
      }
    }
    // Half of the clients answer all the same.
    if (chance(50)) {
      std::erase_if(asked_, [&](const Asked& asked) { return asked.id == id; });
    }
  } else if (message.method == "notifications/tasks/status" || message.method == "notifications/tasks" ||
             message.method == "notifications/subscriptions/acknowledged") {
    client_hears_task_news(message);
  } else if (message.method == "notifications/tools/list_changed") {
    saw("list_changed reaches the client");
  } else {
    problem(text::cat("an unknown notification at the client: ", message.method));
  }
}

void World::client_hears_question(const Message& message) {
  Asked asked{.id = message.id->json()};
  const auto text = message.params.find("message");
  asked.ours = text && text.string().starts_with("mcp-cordon asks");
  if (asked.ours) {
    asked.tag = number_after(text.string(), "\"tag\": ");
    saw("form");
  } else {
    asked.tag = static_cast<std::size_t>(message.meta().find("q").safe_integer().value_or(0));
    if (asked.tag >= questions_.size() || questions_[asked.tag].method != message.method) {
      problem("a question that the server did not ask");
      return;
    }
    saw("question: " + message.method);
  }
  asked_.push_back(std::move(asked));
}

void World::client_hears_progress(const Message& message) {
  const std::string token(message.params.find("progressToken").raw());
  if (message.params.find("message")) {
    saw("progress of ours");
    return;
  }
  for (Request& request : requests_) {
    const std::string own = request.n % 2 == 0 ? std::to_string(request.n) : text::cat("\"p", request.n, '"');
    if (own == token && message.params.find("progress").safe_integer().value_or(0) > kTaskProgress) {
      client_hears_task_news(message);
      return;
    }
    if (own == token) {
      request.progress_seen.push_back(message.params.find("progress").safe_integer().value_or(0));
      if (request.replies > 0) {
        problem(text::cat("progress after the answer to ", request.id));
      }
      saw("progress");
      return;
    }
  }
  problem("progress of nothing");
}

// Whether this is the server's answer to this very request, or one that we may give in its place.
bool World::right_answer(const Request& request, const Message& message) {
  const bool error = message.kind == MessageKind::error;
  const auto mark = (error ? message.error.find("data") : message.result.find("_meta")).find("mark");
  if (mark) {
    return mark.string() == request.mark && request.progress_seen == request.progress_sent;
  }
  // The gate's own words, where the server has given an answer that should have passed.
  const bool opening = request.method == "initialize" || request.method == "server/discover";
  const bool list = request.method.ends_with("/list");
  const bool late = message.document.text().find("timed_out") != std::string::npos ||
                    message.document.text().find("more questions than pass") != std::string::npos;
  return request.mark.empty() || opening || list || late || !draining_;
}

void World::client_hears_reply(const Message& message) {
  client_hears_of_new_task(message);
  const auto at = open_.find(message.id_json());
  if (at == open_.end()) {
    // It crossed the cancellation, or nobody asked.
    const bool crossed = std::ranges::any_of(requests_, [&](Request& request) {
      return request.id == message.id_json() && request.cancelled && ++request.replies == 1;
    });
    if (!crossed) {
      problem(text::cat("an answer to no request, or the second one: ", message.document.text()));
    }
    return;
  }
  Request& request = requests_[at->second];
  ++request.replies;
  open_.erase(at);
  if (message.kind == MessageKind::result && request.method == "tools/call" && message.result.find("inputRequests")) {
    client_retries(request, message);
    return;
  }
  const std::string_view text = message.document.text();
  const bool late =
      text.find("timed_out") != std::string_view::npos || text.find("message_ambiguous") != std::string_view::npos;
  if (!request.twice && !late) {
    free_ids_.push_back(request.id);  // else a second answer would look like one to the next request
  }
  for (const std::string_view word : {"timed_out", "tool_changed", "rate_limited", "server_exited",
                                      "confirmation_declined", "tool_blocked", "Unknown tool", "Unknown task"}) {
    if (text.find(word) != std::string_view::npos) {
      saw(text::cat("answer: ", word));
    }
  }
  if (!right_answer(request, message)) {
    problem(text::cat("not the answer to ", request.line, ":\n  ", text));
  }
  client_hears_task(request, message);
  client_opens_after(request);
  if (request.method == "initialize" && seen_["does not wait for its handshake"] == 0) {
    client_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
}

// The stateless era: a question of ours or of the server stands in the result.
void World::client_retries(Request& request, const Message& message) {
  const auto questions = message.result.find("inputRequests");
  const bool ours = bool(questions.find(kConfirm));
  saw(ours ? "asked for a word in a result" : "question in a result");
  if (stopped_ || left_) {
    return;  // nobody listens any more
  }
  const bool yes = chance(75);
  json::Writer answers;
  answers.begin_object();
  for (const json::Member member : questions.members()) {
    answers.key(member.key.string());
    answers.raw(yes ? R"({"action":"accept","content":{"decision":"allow this call"}})" : R"({"action":"decline"})");
  }
  answers.end_object();
  if (chance(15)) {
    return;  // it gives the call up
  }
  const auto state = message.result.find("requestState");
  std::string params = request.tool.empty()
                           ? std::string(request.method == "prompts/get" ? R"("name":"hello")" : R"("uri":"demo://1")")
                           : text::cat(R"("name":")", request.tool, R"(","arguments":{"tag":)", request.tag, '}');
  params += text::cat(R"(,"inputResponses":)", answers.take());
  if (state) {
    params += text::cat(R"(,"requestState":)", state.raw());
  }
  for (int times = chance(20) ? 2 : 1; times > 0; --times) {
    Request again{.id = fresh_id(), .method = request.method, .tool = request.tool, .tag = request.tag, .retry = true};
    // The first of two is the one that counts; a call that was allowed before goes on.
    again.allowed = ours ? yes && times != 0 : request.allowed;
    if (times == 2) {
      saw("retry sent twice");
    }
    client_sends(std::move(again), params);
  }
}

}  // namespace cordon::test
