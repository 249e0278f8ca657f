// SPDX-License-Identifier: Apache-2.0
// Tasks, as the server speaks of them. What a task brings is treated as the answer of the call that it was; what is
// said of a task is written anew from the members that the protocol gives it, so that nothing rides along.
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "core/gate/content_filter.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Member;
using json::Value;
using wire::Era;
using wire::MessageKind;

namespace {

// The text for the model that may come with a new task is no content, and so not treated: it passes as it is or not.
bool passes_at_once(const Value& text, const policy::Results& policy, const SecretFinder& secrets) {
  if (!text.is(Kind::string)) {
    return false;
  }
  json::Writer w;
  w.begin_object().key("result").begin_object().key("text").value(text).end_object().end_object();
  return treat_content(parse_own(w.take()), policy, secrets).none();
}

void write_meta(json::Writer& w, const Value& meta, bool with_text) {
  if (!meta) {
    return;
  }
  w.key("_meta").begin_object();
  for (const Member member : meta.members()) {
    if (with_text || !member.key.string_equals(wire::kMetaImmediate)) {
      w.key(member.key.string()).value(member.value);
    }
  }
  w.end_object();
}

}  // namespace

// A result that is a task, or looks like one to some reader.
bool Session::Impl::is_new_task(const Value& result) {
  const Value type = result.find("resultType");
  const Value task = result.find("task");
  return (type.is(Kind::string) && type.string_equals("task")) ||
         (task.is(Kind::object) && (task.find("taskId") || !result.find("content")));
}

// Why a result that claims to be a new task is none that can be told apart from all others.
Status Session::Impl::check_new_task(const Message& message, const Outstanding& request) {
  const bool stateless = request.era == Era::stateless;
  const Value result = message.result;
  const Value nested = result.find("task");
  const Value type = result.find("resultType");
  bool mixed = stateless ? bool(nested) : type && (!type.is(Kind::string) || !type.string_equals("complete"));
  for (const std::string_view other : {"content", "structuredContent", "inputRequests", "result", "error"}) {
    mixed = mixed || result.find(other);
  }
  if (mixed) {
    return fail(Errc::method_not_allowed, "a task and something else in one result");
  }
  const Value object = stateless ? result : nested;
  if (const Status shape = check_task(object, request.era); !shape) {
    return shape;
  }
  const std::string id = *task_id(object);
  const Value related = message.meta().find(wire::kMetaRelatedTask);
  if (tasks_.knows(id) || (related && task_id(related) != id)) {
    return fail(Errc::reply_unexpected, "a task with the id of another task");
  }
  if (!tasks_.has_room(now_)) {
    cancel_task(id, request.era);
    return fail(Errc::rate_limited, "too many tasks run already");
  }
  return {};
}

// The call goes on as a task from here. What is none, or cannot be kept apart from others, is withheld.
void Session::Impl::on_new_task(Message message, const Outstanding& request) {
  if (refuse_by_size(message, request)) {
    return;
  }
  message.method = request.method;
  message = without_ours(std::move(message));
  if (const Status fits = check_new_task(message, request); !fits) {
    abandon(*message.id, request);  // the server may work on it
    withhold_answer(message, request, fits.error());
    return;
  }
  const bool stateless = request.era == Era::stateless;
  const Value object = stateless ? message.result : message.result.find("task");
  const TaskStatus status = *task_status(object.find("status"));
  const std::string id = *task_id(object);
  Task& task = tasks_.add(id,
                          {.tool = request.tool,
                           .era = request.era,
                           .flagged = request.flagged,
                           .offers = request.offers,
                           .limits = request.limits,
                           .progress_token = request.progress_token,
                           .created = now_},
                          now_);
  record(task_record(message.id_json(), request.tool, id, name(status)));
  note_task(id, task, object);
  const Value immediate = message.meta().find(wire::kMetaImmediate);
  const bool with_text = immediate && passes_at_once(immediate, config_.policy.results, secret_finder_);
  if (immediate && !with_text) {
    record(refused_record(Side::server, Errc::method_not_allowed, "text for the model that came with a task",
                          message.id, request.method));
  }
  json::Writer w;
  w.begin_object();
  if (stateless) {
    w.member("resultType", "task");
    write_task(w, object, request.era, status);
  } else {
    w.key("task").begin_object();
    write_task(w, object, request.era, status);
    w.end_object();
  }
  write_meta(w, message.meta(), with_text);
  std::string result = w.end_object().take();
  if (immediate && !with_text) {
    result = wire::with_meta(parse_own(result).root(), "dev.mcp-cordon/left_out", "1");
  }
  to_client(treated_line(parse_own(wire::result_line(*message.id, result)), message.id, request.tool, request.flagged));
}

// What the server says of a task that is known: how far it is, and how long it is kept.
void Session::Impl::note_task(const std::string& id, Task& task, const Value& object) {
  if (object.find("ttl") || object.find("ttlMs")) {
    task.ttl_ms = task_ttl(object, task.era);
  }
  if (is_over(task.status)) {
    return;
  }
  task.status = *task_status(object.find("status"));
  if (is_over(task.status)) {
    task.ended = now_;
    record(task_record("", task.tool, id, name(task.status)));
  }
}

void Session::Impl::on_task_reply(Message message, const Outstanding& request) {
  if (message.kind == MessageKind::error) {
    on_task_error(std::move(message), request);
    return;
  }
  if (request.method == "tasks/result") {
    on_task_payload(std::move(message), request);
    return;
  }
  if (refuse_by_size(message, request)) {
    return;
  }
  message.method = request.method;
  message = without_ours(std::move(message));
  if (request.method == "tasks/list") {
    on_task_list(message, request);
    return;
  }
  json::Writer w;
  w.begin_object();
  std::vector<std::string> answered;
  if (const Status fits = write_task_answer(w, message, request, answered); !fits) {
    withhold_answer(message, request, fits.error());
    return;
  }
  write_meta(w, message.meta(), false);
  std::string result = w.end_object().take();
  if (!answered.empty()) {
    json::Writer keys;
    keys.begin_array();
    for (const std::string& key : answered) {
      keys.string(key);
    }
    result = wire::with_meta(parse_own(result).root(), "dev.mcp-cordon/answered", keys.end_array().take());
  }
  to_client(treated_line(parse_own(wire::result_line(*message.id, result)), message.id, request.tool, request.flagged));
}

// Writes what a server answers to tasks/get, tasks/cancel and tasks/update: a task, or in the stateless era, to the
// latter two, that it has understood.
Status Session::Impl::write_task_answer(json::Writer& w, const Message& message, const Outstanding& request,
                                        std::vector<std::string>& answered) {
  constexpr std::string_view kOther = "an answer that is not about the task that was asked about";
  const bool stateless = request.era == Era::stateless;
  const Value type = message.result.find("resultType");
  Task* task = tasks_.find(request.task, request.era, now_);
  if (task == nullptr || names_unknown_task(message.meta()) ||
      (type && (!type.is(Kind::string) || !type.string_equals("complete")))) {
    return fail(Errc::reply_unexpected, std::string(kOther));
  }
  if (stateless) {
    w.member("resultType", "complete");
  }
  if (!stateless || request.method == "tasks/get") {
    if (const Status shape = check_task(message.result, request.era); !shape) {
      return shape;
    }
    if (task_id(message.result) != request.task) {
      return fail(Errc::reply_unexpected, std::string(kOther));
    }
    if (stateless) {
      return write_task_in_full(w, request.task, *task, message.result, request.offers, answered);
    }
    note_task(request.task, *task, message.result);
    write_task(w, message.result, request.era, *task_status(message.result.find("status")));
  }
  if (request.method == "tasks/cancel" && !task->cancelled) {
    task->cancelled = now_;
  }
  return {};
}

// Of the answers to tasks/result and tasks/get, an error may be that of the call itself.
void Session::Impl::on_task_error(Message message, const Outstanding& request) {
  Task* task = tasks_.find(request.task, request.era, now_);
  if (request.method == "tasks/get" && message.error.find("code").safe_integer() == -32602) {
    tasks_.erase(request.task);  // the server does not know it any more
  } else if (task != nullptr) {
    for (const std::string& key : request.answers) {
      task->questions[key].state = TaskQuestion::State::open;  // they were not taken
    }
  }
  Outstanding as_asked = request;
  if (request.method == "tasks/result") {
    as_asked.method = "tools/call";
  }
  if (asks_client(message)) {
    on_asking_reply(std::move(message), as_asked);
  } else if (!refuse_by_size(message, as_asked)) {
    pass_reply(std::move(message), request);
  }
}

// What the call would have been answered with, had it not become a task: judged as that.
void Session::Impl::on_task_payload(Message message, const Outstanding& request) {
  if (Task* task = tasks_.find(request.task, request.era, now_); task != nullptr && !is_over(task->status)) {
    task->status = TaskStatus::completed;  // nothing else is answered before a task is over
    task->ended = now_;
    record(task_record("", task->tool, request.task, "completed"));
  }
  Outstanding as_call = request;
  as_call.method = "tools/call";
  const Value related = message.meta().find(wire::kMetaRelatedTask);
  if (related && task_id(related) != request.task) {
    withhold_answer(message, as_call, {Errc::reply_unexpected, "the result of another task", {}, {}});
  } else if (asks_client(message)) {
    on_asking_reply(std::move(message), as_call);
  } else {
    on_call_reply(std::move(message), as_call);
  }
}

// Those of this session alone, each once.
void Session::Impl::on_task_list(const Message& message, const Outstanding& request) {
  const Value listed = message.result.find("tasks");
  if (!listed.is(Kind::array)) {
    withhold_answer(message, request, {Errc::message_malformed, "a list of tasks that is none", {}, {}});
    return;
  }
  std::int64_t left_out = 0;
  std::set<std::string> seen;
  json::Writer w;
  w.begin_object().key("tasks").begin_array();
  for (const Value object : listed.elements()) {
    const auto id = task_id(object);
    Task* task = id ? tasks_.find(*id, request.era, now_) : nullptr;
    if (task == nullptr || !check_task(object, request.era) || !seen.insert(*id).second) {
      ++left_out;
      continue;
    }
    note_task(*id, *task, object);
    w.begin_object();
    write_task(w, object, request.era, *task_status(object.find("status")));
    w.end_object();
  }
  w.end_array();
  if (const Value cursor = message.result.find("nextCursor"); cursor.is(Kind::string)) {
    w.key("nextCursor").value(cursor);
  }
  write_meta(w, message.meta(), false);
  std::string result = w.end_object().take();
  if (left_out > 0) {
    record(refused_record(Side::server, Errc::tool_not_reviewed,
                          text::cat(left_out, " tasks that no call of this session became"), message.id,
                          request.method));
    result = wire::with_meta(parse_own(result).root(), "dev.mcp-cordon/left_out", std::to_string(left_out));
  }
  to_client(treated_line(parse_own(wire::result_line(*message.id, result)), message.id, request.method, false));
}

// notifications/tasks/status (2025-11-25) and notifications/tasks, where they were asked for (stateless era).
void Session::Impl::on_task_notification(const Message& message) {
  const Era era = message.method == "notifications/tasks" ? Era::stateless : Era::handshake;
  const auto id = task_id(message.params);
  Task* task = id ? tasks_.find(*id, era, now_) : nullptr;
  const bool wanted = era == Era::handshake || (id && std::ranges::any_of(outstanding_, [&](const auto& entry) {
                                                  return entry.second.tasks.contains(*id) && !entry.second.ended;
                                                }));
  const auto drop = [&](Errc code, std::string_view why) {
    record(refused_record(Side::server, code, why, {}, message.method));
  };
  if (task == nullptr || !wanted) {
    drop(Errc::reply_unexpected, "news of a task that nobody asked about");
    return;
  }
  Status fits = check_task(message.params, era);
  json::Writer w;
  w.begin_object();
  std::vector<std::string> answered;
  if (fits && era == Era::stateless) {
    fits = write_task_in_full(w, *id, *task, message.params, task->offers, answered);
  } else if (fits) {
    note_task(*id, *task, message.params);
    write_task(w, message.params, era, *task_status(message.params.find("status")));
  }
  if (fits && message.document.text().size() > config_.policy.results.max_bytes) {
    fits = fail(Errc::result_too_large, "news of a task that are larger than results may be");
  }
  if (!fits) {
    drop(fits.error().code, fits.error().detail);
    return;
  }
  write_meta(w, message.meta(), false);
  const std::string line = wire::notification_line(message.method, w.end_object().take());
  to_client(treated_line(parse_own(line), {}, task->tool, task->flagged));
}

}  // namespace cordon::gate
