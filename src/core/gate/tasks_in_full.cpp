// SPDX-License-Identifier: Apache-2.0
// A task of the stateless era as tasks/get and its notifications show it: with the result or error of the call, or with
// what the server asks. The one is judged as a direct answer is, the other as every question; what we answer ourselves
// we tell the server, and the client sees what is left.
#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/gate/own_text.hpp"
#include "core/gate/questions.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/fold.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Member;
using json::Value;
using wire::Era;
using wire::Revision;
using Outcome = JudgedQuestion::Outcome;

namespace {

constexpr std::size_t kMaxKeyBytes = 256;

std::string digest_of(const Value& question) { return hex(sha256(json::canonical(question))); }

// Why what stands for the answer of the call cannot be told, or asks instead of answering.
Status check_payload(const Value& object) {
  if (const auto place = wire::folded_protocol_member(object)) {
    return fail(Errc::message_ambiguous, "a member equals a protocol member only after case folding");
  }
  const Value result = object.find("result");
  const Value type = result.find("resultType");
  const bool whole = !type || (type.is(Kind::string) && type.string_equals("complete"));
  if (!result.is(Kind::object) || !whole || result.find("task") || result.find("inputRequests")) {
    return fail(Errc::method_not_allowed, "a result of a type that was not reviewed");
  }
  return {};
}

bool readable_error(const Value& error) {
  return error.find("code").safe_integer() && error.find("message").is(Kind::string) && !data_asks(error.find("data"));
}

}  // namespace

// The result within a task, as JSON: the server's, or ours in its place.
std::string Session::Impl::task_payload(const Task& task, const Value& object) {
  const Value result = object.find("result");
  Status fits = check_payload(object);
  if (fits && names_unknown_task(result.find("_meta"))) {
    fits = fail(Errc::reply_unexpected, "a result of a task that does not exist");
  }
  if (fits && config_.policy.results.structured == policy::SchemaCheck::enforce) {
    if (auto refusal = schemas_.refuse_result(task.tool, result)) {
      fits = std::unexpected(std::move(*refusal));
    }
  }
  if (fits) {
    overhear(result);
    return std::string(result.raw());
  }
  record(refused_record(Side::server, fits.error().code, fits.error().detail, {}, "tasks/get"));
  notice_server(text::cat("a result of ", text::printable(task.tool, 100), " was withheld: ", fits.error().detail));
  return withheld_result(fits.error().code, fits.error().detail, Era::stateless);
}

// Writes the members of `object`, a task that was checked, as the client may see them.
Status Session::Impl::write_task_in_full(json::Writer& w, const std::string& id, Task& task, const Value& object,
                                         const ClientOffers& offers, std::vector<std::string>& answered) {
  const TaskStatus status = *task_status(object.find("status"));
  if (status == TaskStatus::input_required) {
    if (const Status fits = write_task_questions(w, id, task, object, offers, answered); !fits) {
      return fits;
    }
    note_task(id, task, object);
    return {};
  }
  note_task(id, task, object);
  if (status == TaskStatus::failed && !readable_error(object.find("error"))) {
    return fail(Errc::client_request_blocked, "an error of a task that cannot be read, or asks the client");
  }
  write_task(w, object, Era::stateless, status);
  if (status == TaskStatus::failed) {
    w.key("error").value(object.find("error"));
  } else if (status == TaskStatus::completed) {
    w.member_raw("result", task_payload(task, object));
  }
  return {};
}

// What one question of a task is now; nothing when it was answered.
Result<std::optional<Session::Impl::AskedInTask>> Session::Impl::judge_task_question(const Task& task,
                                                                                     const Member& member,
                                                                                     const QuestionContext& context) {
  const std::string key = member.key.string();
  const Value method = member.value.find("method");
  if (!method.is(Kind::string) || key.size() > kMaxKeyBytes || member.key.has_lone_surrogate() ||
      key.starts_with(wire::kOwnIdPrefix)) {
    return fail(Errc::client_request_blocked, "a question that cannot be read");
  }
  const auto known = task.questions.find(key);
  const std::string digest = digest_of(member.value);
  if (known != task.questions.end() && known->second.digest != digest) {
    return fail(Errc::client_request_blocked, "a question that changed under its key");
  }
  if (known != task.questions.end() && known->second.state == TaskQuestion::State::answered) {
    return std::nullopt;
  }
  const bool is_new = known == task.questions.end();
  if (is_new && !admit_question(method.string())) {
    return fail(Errc::rate_limited, "more questions than pass");
  }
  JudgedQuestion judged = judge_question(method.string(), member.value.find("params"), context);
  if (is_new) {
    note_question(member.key.raw(), method.string(), judged, "tasks/get");
  }
  if (judged.outcome == Outcome::refuse) {
    return fail(Errc::client_request_blocked, judged.because);
  }
  const auto state = judged.outcome == Outcome::pass ? TaskQuestion::State::open : TaskQuestion::State::answered;
  return AskedInTask{key, method.string(), std::move(judged), {digest, state}};
}

// Each question by itself. One that was answered is not shown again, whatever the server still says; one that changed
// under its key, or that nobody can answer, keeps the task from the client.
Status Session::Impl::write_task_questions(json::Writer& w, const std::string& id, Task& task, const Value& object,
                                           const ClientOffers& offers, std::vector<std::string>& answered) {
  const Value requests = object.find("inputRequests");
  if (!requests.is(Kind::object) || requests.size() > kMaxQuestionsInResult) {
    return fail(Errc::client_request_blocked, "questions of a task that cannot be read");
  }
  const QuestionContext context = question_context(Revision::v2026_07_28, offers);
  std::vector<AskedInTask> asked;
  for (const Member member : requests.members()) {
    auto one = judge_task_question(task, member, context);
    if (!one) {
      return std::unexpected(std::move(one.error()));
    }
    if (*one) {
      asked.push_back(std::move(**one));
    }
  }
  const auto fresh =
      std::ranges::count_if(asked, [&](const AskedInTask& one) { return !task.questions.contains(one.key); });
  if (task.questions.size() + static_cast<std::size_t>(fresh) > kMaxTaskQuestions) {
    return fail(Errc::rate_limited, "more questions than pass");
  }
  json::Writer passed;
  json::Writer ours;
  passed.begin_object();
  ours.begin_object();
  bool any_passed = false;
  for (AskedInTask& one : asked) {
    task.questions.insert_or_assign(one.key, std::move(one.question));
    if (one.judged.outcome == Outcome::pass) {
      any_passed = true;
      passed.key(one.key).begin_object().member("method", one.method);
      passed.member_raw("params", one.judged.params).end_object();
    } else {
      answered.push_back(one.key);
      ours.member_raw(one.key, one.judged.result);
    }
  }
  if (!answered.empty()) {
    tell_task("tasks/update", id, ours.end_object().take(), Era::stateless);
  }
  // Nothing left to ask: for the client it goes on.
  write_task(w, object, Era::stateless, any_passed ? TaskStatus::input_required : TaskStatus::working);
  if (any_passed) {
    w.member_raw("inputRequests", passed.end_object().take());
  }
  return {};
}

// A request of ours about a task. Its answer changes nothing and is dropped.
void Session::Impl::tell_task(std::string_view method, const std::string& id, std::string_view answers, Era era) {
  constexpr std::size_t kRemembered = 64;
  if (server_input_closed_) {
    return;
  }
  const std::string own = own_id();
  told_tasks_.push_back(own);
  if (told_tasks_.size() > kRemembered) {
    told_tasks_.pop_front();
  }
  json::Writer w;
  w.begin_object().member("taskId", id);
  if (!answers.empty()) {
    w.member_raw("inputResponses", answers);
  }
  if (era == Era::stateless) {
    w.member_raw("_meta", stateless_meta_);
  }
  w.end_object();
  to_server(wire::request_line(Id(own), method, w.take()));
}

// Of a task that nobody here will ask about, where the server can be told so.
void Session::Impl::cancel_task(const std::string& id, Era era) {
  const bool offered = era == Era::stateless ? tasks_offered(Revision::v2026_07_28, "tasks/cancel") && stateless_seen_
                                             : tasks_offered(revision_, "tasks/cancel");
  if (offered && !tasks_.knows(id)) {
    tell_task("tasks/cancel", id, "", era);
  }
}

// The answer to a call that nobody waits for any more. Where the call became a task, it goes on: it still counts.
void Session::Impl::answered_late(const Message& message) {
  if (message.kind == wire::MessageKind::result && is_new_task(message.result)) {
    const Value nested = message.result.find("task");
    const auto id = task_id(nested ? nested : message.result);
    if (id && std::ranges::find(cancelled_, *message.id) != cancelled_.end()) {
      cancel_task(*id, nested ? Era::handshake : Era::stateless);
    }
    return;
  }
  std::erase_if(abandoned_, [&](const Abandoned& one) { return one.id == *message.id; });
}

}  // namespace cordon::gate
