// SPDX-License-Identifier: Apache-2.0
// Tasks at the client: what it asks and hears about them, and the account at the end.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "interleaving_world.hpp"

namespace cordon::test {

using json::Value;
using wire::MessageKind;

namespace {

constexpr std::string_view kUnknown = "t9999";

// 1, 2, 3, …; with holes where some may be lost.
bool in_order(const std::vector<std::size_t>& numbers, bool holes) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t before = i == 0 ? 0 : numbers[i - 1];
    if (numbers[i] <= before || (!holes && numbers[i] != before + 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void World::client_asks_about_task() {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].known) {
      known.push_back(i);
    }
  }
  Request request{.id = fresh_id(), .job = known[pick(known.size())]};
  constexpr std::array kHandshake = std::to_array<std::string_view>(
      {"tasks/get", "tasks/get", "tasks/result", "tasks/result", "tasks/list", "tasks/cancel"});
  constexpr std::array kStateless = std::to_array<std::string_view>(
      {"tasks/get", "tasks/get", "tasks/get", "tasks/get", "subscriptions/listen", "tasks/cancel"});
  request.method = stateless_ ? kStateless.at(pick(kStateless.size())) : kHandshake.at(pick(kHandshake.size()));
  std::string id = task_id(*request.job);
  if (request.method == "tasks/list") {
    request.had = std::move(known);
    request.job.reset();
    client_sends(std::move(request), "");
  } else if (request.method == "subscriptions/listen") {
    client_sends(std::move(request), text::cat(R"("notifications":{"taskIds":[")", id, "\"]}"));
  } else {
    if (chance(8)) {
      request.job.reset();
      id = kUnknown;
    }
    client_sends(std::move(request), text::cat(R"("taskId":")", id, '"'));
  }
}

// A call was answered with a task: from here on the client knows it.
void World::client_hears_of_new_task(const Message& message) {
  const Value nested = message.result.find("task");
  const Value type = message.result.find("resultType");
  const bool stateless = type.is(json::Kind::string) && type.string_equals("task");
  if (message.kind != MessageKind::result || (!nested && !stateless)) {
    return;
  }
  const auto index = job_of(nested ? nested : message.result);
  if (!index || requests_[jobs_[*index].n].id != message.id_json()) {
    problem(text::cat("a task that this call did not become: ", message.document.text()));
  } else if (std::exchange(jobs_[*index].known, true)) {
    problem(text::cat("a task that is new again: ", message.document.text()));
  }
}

void World::client_hears_task(const Request& request, const Message& message) {
  if (message.kind != MessageKind::result) {
    return;
  }
  if (request.method == "tasks/list") {
    client_looks_at_list(request, message.result.find("tasks"));
  } else if (request.method == "tasks/get") {
    if (!request.job || job_of(message.result) != request.job) {
      problem(text::cat("not the task that was asked about: ", message.document.text()));
    } else {
      client_looks_at_task(*request.job, message.result);
    }
  } else if (request.method == "tasks/result") {
    const Value related = message.result.find("_meta").find(kRelatedTask);
    if (related && job_of(related) != request.job) {
      problem(text::cat("the result of another task: ", message.document.text()));
    }
  }
}

// Only its own, each once; and all that it had, unless the server has forgotten one since.
void World::client_looks_at_list(const Request& request, const Value& tasks) {
  std::set<std::size_t> seen;
  for (const Value one : tasks.elements()) {
    const auto index = job_of(one);
    if (!index || !jobs_[*index].known || !seen.insert(*index).second) {
      problem(text::cat("a list with a task that is not this client's: ", one.raw()));
    }
  }
  for (const std::size_t had : request.had) {
    if (!seen.contains(had) && !jobs_[had].forgotten) {
      problem(text::cat("a list without task ", task_id(had)));
    }
  }
}

void World::client_looks_at_task(std::size_t index, const Value& task) {
  Job& job = jobs_[index];
  if (const Value result = task.find("result")) {
    saw("result within a task");
    const Value mark = result.find("_meta").find("mark");
    if (!mark || mark.string() != job.mark) {
      problem(text::cat("not the result of task ", task_id(index), ": ", result.raw()));
    }
  }
  for (const json::Member member : task.find("inputRequests").members()) {
    const std::string key = member.key.string();
    saw("question of a task");
    if (!member.value.find("method").string_equals("elicitation/create")) {
      problem(text::cat("a question of a task that is not for the client: ", member.value.raw()));
    }
    const bool again = !job.replied.insert(std::stoul(key.substr(1))).second;
    if (stopped_ || left_ || (again && !chance(30))) {
      continue;
    }
    for (int times = chance(20) ? 2 : 1; times > 0; --times) {
      client_sends({.id = fresh_id(), .method = "tasks/update", .job = index},
                   text::cat(R"("taskId":")", task_id(index), R"(","inputResponses":{")", key,
                             R"(":{"action":"accept","content":{}}})"));
    }
  }
}

// What is told of a task, or that somebody listens.
void World::client_hears_task_news(const Message& message) {
  if (message.method == "notifications/subscriptions/acknowledged") {
    const std::string id(message.meta().find("io.modelcontextprotocol/subscriptionId").raw());
    const auto listen = std::ranges::find_if(requests_, [&](const Request& one) {
      return one.id == id && one.method == "subscriptions/listen" && !one.acknowledged;
    });
    if (listen == requests_.end()) {
      problem("an acknowledgement of nothing, or the second one");
      return;
    }
    listen->acknowledged = true;
    saw("acknowledgement");
    return;
  }
  if (message.method == "notifications/progress") {
    const Value token = message.params.find("progressToken");
    const std::string number(token.is(json::Kind::string) ? token.string().substr(1) : std::string(token.raw()));
    const auto job =
        std::ranges::find_if(jobs_, [&](const Job& one) { return one.known && one.n == std::stoul(number); });
    if (job == jobs_.end()) {
      problem("progress of a task that the client does not know");
      return;
    }
    saw("progress of a task");
    job->progress_heard.push_back(
        static_cast<std::size_t>(message.params.find("progress").safe_integer().value_or(0) - kTaskProgress));
    return;
  }
  const auto index = job_of(message.params);
  if (!index || !jobs_[*index].known) {
    problem(text::cat("news of a task that the client does not know: ", message.document.text()));
    return;
  }
  saw("news of a task");
  jobs_[*index].news_heard.push_back(std::stoul(message.params.find("statusMessage").string()));
  client_looks_at_task(*index, message.params);
}

void World::check_jobs() {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const Job& job = jobs_[i];
    if (!job.known) {
      continue;
    }
    if (job.given_up) {
      problem(text::cat("task ", task_id(i), " is the client's, and was cancelled as nobody's"));
    }
    const bool all = draining_ && !job.news_may_be_lost;
    if (!in_order(job.news_heard, job.news_may_be_lost) || (all && job.news_heard.size() != job.news_sent)) {
      problem(text::cat("news of task ", task_id(i), " were lost, repeated or reordered"));
    }
    if (!in_order(job.progress_heard, false) || (draining_ && job.progress_heard.size() != job.progress_sent)) {
      problem(text::cat("progress of task ", task_id(i), " was lost, repeated or reordered"));
    }
  }
}

}  // namespace cordon::test
