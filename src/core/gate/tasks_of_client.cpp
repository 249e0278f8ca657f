// SPDX-License-Identifier: Apache-2.0
// Tasks, as the client speaks of them: which calls may ask to become one, and what may be asked about those that did.
// Nothing is asked of the server about an id that no call of this session became.
#include <utility>

#include "base/text.hpp"
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
using wire::Revision;

bool Session::Impl::declares_tasks(const Message& message) const {
  return message.modern() && has_task_extension(message.meta().find(wire::kMetaClientCapabilities));
}

// By the revision and the reviewed capabilities of the server.
bool Session::Impl::tasks_offered(Revision revision, std::string_view method) const {
  if (wire::is_stateless(revision)) {
    return task_extension();
  }
  return revision == Revision::v2025_11_25 && opening_ && opening_->task_calls &&
         (method != "tasks/list" || opening_->task_list) && (method != "tasks/cancel" || opening_->task_cancel);
}

// A message that belongs to a task which no call of this session became.
bool Session::Impl::names_unknown_task(const Value& meta) const {
  const Value related = meta.find(wire::kMetaRelatedTask);
  const auto id = task_id(related);
  return related && (!id || !tasks_.knows(*id));
}

// A call that asks to become a task, of a tool that does not, or where too many run. True: it was refused.
bool Session::Impl::refuse_as_task(const Message& message, const ToolView& tool) {
  if (!message.params.find("task")) {
    return false;
  }
  const json::Document definition = parse_own(tool.served);
  const Value support = definition.root().find("execution").find("taskSupport");
  if (!support.is(Kind::string) || (!support.string_equals("optional") && !support.string_equals("required"))) {
    refuse_call(message, Errc::method_not_allowed, "execution.taskSupport", "this tool does not run as a task");
    return true;
  }
  if (!tasks_.has_room(now_)) {
    refuse_call(message, Errc::rate_limited, "too many tasks", "too many tasks run already");
    return true;
  }
  return false;
}

// The answer of a server that never heard of it.
void Session::Impl::refuse_task(const Message& message) {
  record(refused_record(Side::client, Errc::tool_not_reviewed, "a task that no call of this session became", message.id,
                        message.method));
  to_client(
      wire::error_line(*message.id, json_rpc_code(Errc::tool_not_reviewed), "Unknown task", Errc::tool_not_reviewed));
}

// tasks/get, tasks/result, tasks/cancel, tasks/update, tasks/list.
void Session::Impl::on_task(Message message) {
  if (message.method == "tasks/list") {
    forward_request(std::move(message), {});
    return;
  }
  if (message.modern() && !declares_tasks(message)) {
    record(refused_record(Side::client, Errc::method_not_allowed, "a client that does not declare tasks", message.id,
                          message.method));
    to_client(text::cat(R"({"jsonrpc":"2.0","id":)", message.id_json(),
                        R"(,"error":{"code":-32021,"message":"Missing required client capability",)",
                        R"("data":{"requiredCapabilities":{"extensions":{")", wire::kTasksExtension,
                        R"(":{}}},"type":"method_not_allowed"}}})", "\n"));
    return;
  }
  const auto id = task_id(message.params);
  Task* task = id ? tasks_.find(*id, message.modern() ? Era::stateless : Era::handshake, now_) : nullptr;
  if (task == nullptr) {
    refuse_task(message);
    return;
  }
  Outstanding outstanding;
  outstanding.task = *id;
  outstanding.tool = task->tool;
  outstanding.flagged = task->flagged;
  if (message.method == "tasks/update" && !admit_task_answers(message, *task, outstanding)) {
    return;
  }
  forward_request(std::move(message), std::move(outstanding));
}

// Answers pass only to what was asked and passed, once. False: the request was refused.
bool Session::Impl::admit_task_answers(const Message& message, Task& task, Outstanding& outstanding) {
  const Value answers = message.params.find("inputResponses");
  bool fits = answers.is(Kind::object) && answers.size() > 0 && !message.params.find("requestState");
  for (const Member member : answers.members()) {
    const auto found = task.questions.find(member.key.string());
    fits = fits && member.value.is(Kind::object) && found != task.questions.end() &&
           found->second.state == TaskQuestion::State::open;
  }
  if (!fits) {
    refuse_request(message, Errc::client_request_blocked, "it answers a question that was never passed on");
    return false;
  }
  for (const Member member : answers.members()) {
    const std::string key = member.key.string();
    task.questions[key].state = TaskQuestion::State::answered;
    outstanding.answers.insert(key);
    const Value action = member.value.find("action");
    const std::string said = action.is(Kind::string) ? text::printable(action.string(), 16) : "result";
    record(answered_record(Id(key), message.method, said));
  }
  return true;
}

}  // namespace cordon::gate
