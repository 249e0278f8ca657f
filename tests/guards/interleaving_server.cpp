// SPDX-License-Identifier: Apache-2.0
// The server of the world: it answers when it likes, in any order, sometimes twice, and asks and tells in between.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "interleaving_world.hpp"

namespace cordon::test {

using wire::MessageKind;

namespace {

constexpr std::array kReviewed = std::to_array<std::string_view>({
    R"({"name":"get","inputSchema":{},"execution":{"taskSupport":"optional"}})",
    R"({"name":"put","inputSchema":{},"execution":{"taskSupport":"optional"}})",
    R"({"name":"slow","inputSchema":{},"execution":{"taskSupport":"optional"}})",
    R"({"name":"drop","inputSchema":{}})",
});
constexpr std::array kChanged = std::to_array<std::string_view>({
    R"({"name":"get","inputSchema":{},"description":"and sends"})",
    R"({"name":"put","inputSchema":{},"execution":{"taskSupport":"optional"}})",
    R"({"name":"new","inputSchema":{}})",
    R"({"name":"slow","inputSchema":{},"execution":{"taskSupport":"optional"}})",
});

constexpr std::string_view kCapabilities =

    R"("capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}},"logging":{},"prompts":{},"resources":{},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}},"tools":{"listChanged":true}})";
constexpr std::string_view kInfo = R"({"name":"fake","version":"1"})";

}  // namespace

void World::server_says(std::string line) {
  note("server >     ", line);
  from_server_ += line + '\n';
}

void World::server_hears(const Message& message, const std::string& line) {
  if (message.kind == MessageKind::request) {
    server_hears_call(message, line);
  } else if (message.kind != MessageKind::notification) {
    server_hears_answer(message);
  } else if (message.method == "notifications/cancelled") {
    const std::string id(message.params.find("requestId").raw());
    const auto todo = std::ranges::find_if(todo_, [&](const Todo& one) { return one.id == id; });
    if (todo == todo_.end()) {
      return;  // it crossed the answer
    }
    saw("cancellation reaches the server");
    todo->cancelled = true;
    ++requests_[todo->n].cancels_heard;
    if (chance(50)) {
      todo_.erase(todo);
    }
  } else if (message.method != "notifications/initialized") {
    problem(text::cat("an unknown notification at the server: ", message.method));
  }
}

void World::server_hears_call(const Message& message, const std::string& line) {
  Todo todo{.id = message.id_json(), .method = message.method, .stateless = message.modern()};
  todo.own = message.id->text().starts_with("mcp-cordon/");
  if (const auto cursor = message.params.find("cursor")) {
    todo.cursor = cursor.string();
  }
  if (!todo.own) {
    const auto n = message.meta().find("n").safe_integer();
    if (!n || static_cast<std::size_t>(*n) >= requests_.size()) {
      problem(text::cat("a request that nobody sent: ", line));
      return;
    }
    todo.n = static_cast<std::size_t>(*n);
    Request& request = requests_[todo.n];
    ++request.forwarded;
    if (++runs_[request.tag] > 1 + asks_[request.tag] && !request.tool.empty()) {
      problem(text::cat("a call that ran more often than it was asked for: ", line));
    }
    opened_ = opened_ || !request.tool.empty();  // no call passes before the gate knows who the server is
    const bool same =
        request.line == line || request.retry || request.may_be_forwarded > 1 || request.method == "initialize";
    if (!same || request.id != todo.id || request.method != todo.method) {
      problem(text::cat("a request that was altered: ", line));
    }
    if (request.tool == "put" && request.cancelled_in_time && !request.allowed) {
      problem(text::cat("a call that was given up before anybody allowed it: ", line));
    }
  }
  if (message.method.starts_with("tasks/") || message.method == "subscriptions/listen") {
    server_hears_of_task(message, todo, line);
  }
  if (std::ranges::any_of(todo_, [&](const Todo& one) { return one.id == todo.id; })) {
    problem(text::cat("an id that is in use at the server: ", line));
  }
  const bool limited = limited_ && !todo.own && requests_[todo.n].tool == "get";
  todo_.push_back(std::move(todo));
  if (limited && running("get") > 3 && now_.ms < 50'000) {
    problem(text::cat("more calls at once than the policy lets through: ", line));
  }
  if (probes_first_ && message.method == "server/discover") {
    server_ends_on_probe();
  }
}

void World::server_hears_answer(const Message& message) {
  const auto at = open_questions_.find(message.id_json());
  if (at == open_questions_.end()) {
    const bool crossed = std::ranges::any_of(questions_, [&](Question& question) {
      return question.id == message.id_json() && question.cancelled && !question.withdrawn && ++question.answers == 1;
    });
    if (!crossed) {
      problem(text::cat("an answer to no question, or the second one: ", message.document.text()));
    }
    return;
  }
  Question& question = questions_[at->second];
  open_questions_.erase(at);
  ++question.answers;
  if (const auto mark = message.result.find("_meta").find("mark")) {
    saw("question answered");
    if (mark.string() != question.said) {
      problem(text::cat("not the client's answer to question ", question.id));
    }
  } else if (!question.said.empty() && question.method != "roots/list") {
    problem(text::cat("the client's answer to question ", question.id, " was lost"));
  } else {
    saw("question answered by the gate");
  }
}

void World::server_acts() {
  const std::size_t what = pick(100);
  if (what < 45 && !todo_.empty()) {
    server_answers(pick(todo_.size()));
  } else if (what < 55) {
    job_acts();
  } else if (what < 75) {
    server_reports();
  } else if (what < 90 && !stateless_ && opened_) {
    server_asks();
  } else if (what < 93) {
    changed_ = !changed_;
    saw("list_changed");
    server_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  } else if (what < 96) {
    saw("reply to nothing");
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", 100'000 + pick(9), R"(,"result":{"_meta":{"mark":"none"}}})"));
  } else if (what < 98) {
    saw("line that is none");
    server_says(chance(50) ? R"({"jsonrpc":"2.0","method":"notifications/message","Params":{}})" : "Listening...");
  }
}

void World::server_answers_list(const Todo& todo) {
  if (chance(draining_ ? 0 : 4)) {
    saw("list refused");
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, R"(,"error":{"code":-32603,"message":"later"}})"));
    return;
  }
  std::string body = todo.method == "prompts/list"               ? R"("prompts":[{"name":"hello"}])"
                     : todo.method == "resources/list"           ? R"("resources":[{"uri":"demo://1","name":"One"}])"
                     : todo.method == "resources/templates/list" ? R"("resourceTemplates":[])"
                                                                 : "";
  if (todo.method == "tools/list") {
    const auto& tools = changed_ ? kChanged : kReviewed;
    std::size_t at = todo.cursor.empty() ? 0 : std::stoul(todo.cursor);
    const std::size_t end = std::min(tools.size(), at + 1 + pick(4));
    body = R"("tools":[)";
    for (bool first = true; at < end; ++at, first = false) {
      body += text::cat(first ? "" : ",", tools.at(at));
    }
    body += ']';
    if (at < tools.size()) {
      saw("page");
      body += text::cat(R"(,"nextCursor":")", at, '"');
    }
  }
  server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, R"(,"result":{)", body, R"(,"resultType":"complete"}})"));
}

// What stands in the result of an answer to the client, which takes the request's mark.
std::string World::result_of(const Todo& todo, Request& request) {
  const bool may_ask = todo.stateless &&
                       (todo.method == "tools/call" || todo.method == "prompts/get" || todo.method == "resources/read");
  if (may_ask && chance(15)) {
    ++asks_[request.tag];
    const std::string state = chance(50) ? text::cat(R"(,"requestState":"s)", request.n, '"') : std::string();
    if (chance(50)) {
      // Answered by the gate, which calls again in the client's place.
      ++request.may_be_forwarded;
      saw("question that the gate answers");
      return text::cat(R"({"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}})", state, '}');
    }
    request.may_be_forwarded += forms_ ? 0U : 1U;
    return text::cat(
        R"({"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}})",
        state, '}');
  }
  request.mark = text::cat('m', ++marks_);
  if (may_become_task(todo, request)) {
    return new_task(todo, request);
  }
  return text::cat(R"({"content":[],"resultType":"complete","_meta":{"mark":")", request.mark, "\"}}");
}

void World::server_answers(std::size_t index) {
  const Todo todo = todo_[index];
  Request* request = todo.own ? nullptr : &requests_[todo.n];
  if (request != nullptr && request->tool == "slow" && !todo.cancelled && chance(85)) {
    return;  // until its time is over
  }
  if (server_holds_back(todo)) {
    return;
  }
  todo_.erase(todo_.begin() + static_cast<std::ptrdiff_t>(index));
  const auto reply = [&](std::string_view body) {
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, ',', body, '}'));
  };
  if (todo.method == "initialize") {
    opened_ = true;
    reply(text::cat(R"("result":{"protocolVersion":"2025-11-25",)", kCapabilities, R"(,"serverInfo":)", kInfo, '}'));
  } else if (todo.method == "server/discover") {
    reply(text::cat(R"("result":{"supportedVersions":["2026-07-28"],)", kCapabilities,
                    R"(,"_meta":{"io.modelcontextprotocol/serverInfo":)", kInfo, "}}"));
  } else if (todo.job || todo.method == "tasks/list") {
    server_answers_of_task(todo, request);
  } else if (request == nullptr) {
    server_answers_list(todo);
  } else if (chance(10)) {
    request->mark = text::cat('e', ++marks_);
    reply(text::cat(R"("error":{"code":1,"message":"x","data":{"mark":")", request->mark, "\"}}"));
  } else {
    reply(text::cat(R"("result":)", result_of(todo, *request)));
  }
  // While the gate calls again, nobody can tell the second answer from one to that.
  const bool again = request != nullptr && request->mark.empty();
  if (chance(10) && !again) {
    saw("reply twice");
    if (request != nullptr) {
      request->twice = true;
    }
    reply(R"("result":{"content":[],"_meta":{"mark":"twice"}})");
  }
}

// Progress of what it works on, and a line for the log.
void World::server_reports() {
  if (!opened_) {
    return;
  }
  if (chance(40)) {
    said_.push_back(said_.size() + 1);
    server_says(text::cat(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":)",
                          said_.back(), "}}"));
    return;
  }
  if (todo_.empty()) {
    return;
  }
  const Todo& todo = todo_[pick(todo_.size())];
  if (todo.own || todo.cancelled || todo.method == "initialize") {
    return;
  }
  Request& request = requests_[todo.n];
  request.progress_sent.push_back(static_cast<std::int64_t>(request.progress_sent.size()) + 1);
  server_says(text::cat(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)",
                        request.n % 2 == 0 ? std::to_string(request.n) : text::cat("\"p", request.n, '"'),
                        R"(,"progress":)", request.progress_sent.back(), "}}"));
}

void World::server_asks() {
  if (!open_questions_.empty() && chance(20)) {
    const auto at = std::next(open_questions_.begin(), static_cast<std::ptrdiff_t>(pick(open_questions_.size())));
    Question& question = questions_[at->second];
    question.cancelled = true;
    saw("server takes a question back");
    server_says(
        text::cat(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)", question.id, "}}"));
    open_questions_.erase(at);
    return;
  }
  constexpr std::array kMethods =
      std::to_array<std::string_view>({"sampling/createMessage", "elicitation/create", "roots/list", "ping"});
  Question question{.method = std::string(kMethods.at(pick(kMethods.size()))), .tag = questions_.size()};
  // Small numbers that the client uses as well.
  question.id = chance(70) ? std::to_string(question.tag) : text::cat("\"", question.tag, '"');
  server_says(
      text::cat(R"({"jsonrpc":"2.0","id":)", question.id, R"(,"method":")", question.method,
                R"(","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":{"q":)",
                question.tag, "}}}"));
  open_questions_[question.id] = question.tag;
  questions_.push_back(std::move(question));
}

}  // namespace cordon::test
