// SPDX-License-Identifier: Apache-2.0
// Calls that become tasks, in both eras, as the server has them.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "interleaving_world.hpp"

namespace cordon::test {

using json::Value;
using wire::MessageKind;

namespace {

std::string mark_of(std::string_view mark) { return text::cat(R"("_meta":{"mark":")", mark, "\"}"); }

}  // namespace

std::optional<std::size_t> World::job_of(const Value& holder) const {
  const Value id = holder.find("taskId");
  if (!id.is(json::Kind::string) || !id.string().starts_with('t')) {
    return std::nullopt;
  }
  const std::size_t index = std::stoul(id.string().substr(1));
  return index < jobs_.size() ? std::optional(index) : std::nullopt;
}

std::size_t World::running(std::string_view tool) const {
  const auto waiting = std::ranges::count_if(
      todo_, [&](const Todo& one) { return !one.own && one.method == "tools/call" && requests_[one.n].tool == tool; });
  // A second answer, which says that the call is done, is taken at its word where the first one came too late.
  const auto jobs = std::ranges::count_if(jobs_, [&](const Job& job) {
    const Request& call = requests_[job.n];
    return !job.over() && !job.forgotten && call.tool == tool && !call.twice;
  });
  return static_cast<std::size_t>(waiting + jobs);
}

bool World::may_become_task(const Todo& todo, const Request& request) {
  const bool wanted = todo.stateless ? tasks_ && chance(45) : request.wants_task && chance(75);
  return wanted && todo.method == "tools/call";
}

std::string World::new_task(const Todo& todo, Request& request) {
  saw(todo.stateless ? "task of the stateless era" : "task");
  const std::size_t index = jobs_.size();
  jobs_.push_back({.n = request.n});
  return todo.stateless ? text::cat(R"({"resultType":"task",)", task(index, false), ',', mark_of(request.mark), '}')
                        : text::cat(R"({"task":{)", task(index, false), "},", mark_of(request.mark), '}');
}

// Its members; `whole`: with what it brought or asks, as the stateless era has it.
std::string World::task(std::size_t index, bool whole) const {
  const Job& job = jobs_[index];
  const bool asks = whole && !job.question.empty();
  std::string out = text::cat(R"("taskId":")", task_id(index), R"(","status":")", asks ? "input_required" : job.status,
                              R"(","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z",)",
                              stateless_ ? R"("ttlMs":null)" : R"("ttl":null)");
  if (asks) {
    const bool form = job.question == "elicitation/create";
    out += text::cat(
        R"(,"inputRequests":{"k)", job.asked, R"(":{"method":")", job.question, '"',
        form
            ? R"(,"params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}})"
            : "",
        "}}");
  } else if (whole && job.status == "completed") {
    out += text::cat(R"(,"result":{"content":[],)", mark_of(job.mark), '}');
  } else if (whole && job.status == "failed") {
    out += R"(,"error":{"code":1,"message":"x"})";
  }
  return out;
}

void World::job_ends(std::size_t index) {
  Job& job = jobs_[index];
  if (!job.over()) {
    job.status = chance(75) ? "completed" : "failed";
    job.mark = text::cat('j', ++marks_);
    job.question.clear();
  }
}

void World::job_acts() {
  if (jobs_.empty()) {
    return;
  }
  const std::size_t index = pick(jobs_.size());
  Job& job = jobs_[index];
  const std::size_t what = pick(10);
  if (job.forgotten) {
    return;
  }
  if (what < 1) {
    job_ends(index);
  } else if (what < 3 && !job.over()) {
    server_says(text::cat(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)",
                          job.n % 2 == 0 ? std::to_string(job.n) : text::cat("\"p", job.n, '"'), R"(,"progress":)",
                          kTaskProgress + static_cast<std::int64_t>(++job.progress_sent), "}}"));
  } else if (what < 5) {
    job_tells(index);
  } else if (stateless_ && !job.over() && job.question.empty() && job.asked < 5) {
    ++job.asked;
    job.question = chance(50) ? "elicitation/create" : "roots/list";
  }
}

// News of it, which the stateless era sends to whoever listens.
void World::job_tells(std::size_t index) {
  Job& job = jobs_[index];
  std::string_view method = "notifications/tasks/status";
  std::string tag;
  if (stateless_) {
    const auto listen = std::ranges::find_if(todo_, [&](const Todo& one) {
      return one.method == "subscriptions/listen" && one.job == index && !one.cancelled;
    });
    if (listen == todo_.end()) {
      return;
    }
    method = "notifications/tasks";
    tag = text::cat(R"(,"_meta":{"io.modelcontextprotocol/subscriptionId":)", listen->id, '}');
  }
  server_says(text::cat(R"({"jsonrpc":"2.0","method":")", method, R"(","params":{)", task(index, stateless_),
                        R"(,"statusMessage":")", ++job.news_sent, '"', tag, "}}"));
}

void World::server_hears_of_task(const Message& message, Todo& todo, const std::string& line) {
  if (message.method == "tasks/list") {
    return;
  }
  if (message.method == "subscriptions/listen") {
    for (const Value id : message.params.find("notifications").find("taskIds").elements()) {
      todo.job = std::stoul(id.string().substr(1));
    }
    server_says(text::cat(
        R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":)",
        todo.id, "}}}"));
  } else {
    todo.job = job_of(message.params);
  }
  if (!todo.job || *todo.job >= jobs_.size()) {
    problem(text::cat("about a task that no call became: ", line));
    todo.job = 0;
    return;
  }
  for (const json::Member member : message.params.find("inputResponses").members()) {
    todo.keys.push_back(member.key.string());
  }
  if (todo.own) {
    saw(text::cat("of the gate: ", todo.method));
    jobs_[*todo.job].given_up = jobs_[*todo.job].given_up || todo.method == "tasks/cancel";
  }
}

// A result waits for the end of its task, and who listens does so until the end.
bool World::server_holds_back(const Todo& todo) {
  if (todo.method == "subscriptions/listen") {
    return !draining_ && !todo.cancelled && chance(90);
  }
  if (todo.method != "tasks/result" || jobs_[*todo.job].over() || jobs_[*todo.job].forgotten) {
    return false;
  }
  if (draining_) {
    job_ends(*todo.job);
  }
  return !draining_;
}

// Each question of a task is answered once, by whomever.
void World::server_takes(const Todo& todo) {
  Job& job = jobs_[*todo.job];
  for (const std::string& key : todo.keys) {
    const std::size_t number = std::stoul(key.substr(1));
    if (number > job.asked || !job.taken.insert(number).second) {
      problem(text::cat("an answer to no question of task ", task_id(*todo.job), ", or the second one: ", key));
    }
    if (number == job.asked) {
      job.question.clear();
    }
    saw(todo.own ? "question of a task answered by the gate" : "question of a task answered");
  }
}

// Those of others, and one of them twice, stand between.
std::string World::listed(std::string_view mark) const {
  std::string out = R"({"tasks":[{"taskId":"x1","status":"working"})";
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (!jobs_[i].forgotten) {
      out += text::cat(",{", task(i, false), '}');
      out += i == 0 ? text::cat(",{", task(i, false), '}') : std::string();
    }
  }
  return text::cat(out, "],", mark_of(mark), '}');
}

void World::server_answers_of_task(const Todo& todo, Request* request) {
  const std::string mark = text::cat('m', ++marks_);
  if (request != nullptr) {
    request->mark = mark;
  }
  const auto error = [&](int code) {
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, R"(,"error":{"code":)", code,
                          R"(,"message":"no","data":{"mark":")", mark, "\"}}}"));
  };
  const auto result = [&](std::string_view members) {
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, R"(,"result":{)",
                          todo.stateless ? R"("resultType":"complete",)" : "", members, members.empty() ? "" : ",",
                          mark_of(mark), "}}"));
  };
  if (todo.method == "tasks/list") {
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, R"(,"result":)", listed(mark), '}'));
    return;
  }
  Job& job = jobs_[*todo.job];
  if (todo.method == "tasks/get" && chance(5)) {
    saw("task forgotten");
    job.forgotten = true;
  }
  const bool listen = todo.method == "subscriptions/listen";
  if ((job.forgotten && !listen) || chance(5)) {
    error(job.forgotten ? -32602 : 7);
  } else if (todo.method == "tasks/get") {
    result(task(*todo.job, todo.stateless));
  } else if (todo.method == "tasks/result" && job.status == "completed") {
    server_says(text::cat(R"({"jsonrpc":"2.0","id":)", todo.id, R"(,"result":{"content":[],"_meta":{"mark":")", mark,
                          "\",\"", kRelatedTask, R"(":{"taskId":")", task_id(*todo.job), "\"}}}}"));
  } else if (todo.method == "tasks/result" || (todo.method == "tasks/cancel" && !todo.stateless && job.over())) {
    error(-32602);
  } else {
    if (todo.method == "tasks/cancel" && !job.over()) {
      job.status = "cancelled";
      job.question.clear();
    } else if (todo.method == "tasks/update") {
      server_takes(todo);
    }
    result(todo.stateless || listen ? std::string() : task(*todo.job, false));
  }
}

}  // namespace cordon::test
