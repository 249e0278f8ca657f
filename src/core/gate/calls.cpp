// SPDX-License-Identifier: Apache-2.0
// tools/call: held until the live list is judged, then the pin, then rules, then effects.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;
using wire::Era;

void Session::Impl::on_call(Message message) {
  const Value tool = message.params.find("name");
  const Value arguments = message.params.find("arguments");
  if (!tool.is(Kind::string) || (arguments && !arguments.is(Kind::object) && !arguments.is(Kind::null))) {
    refuse_request(message, Errc::message_malformed, "tools/call needs a string `name` and an object `arguments`");
    return;
  }
  if (const Value task = message.params.find("task")) {
    // In the stateless era the server decides, and some servers may read this all the same.
    if (message.modern() || !tasks_offered(revision_, "tools/call")) {
      refuse_request(message, Errc::method_not_allowed, "tasks are not part of what was reviewed");
      return;
    }
    const Value ttl = task.find("ttl");
    if (!task.is(Kind::object) || (ttl && !ttl.is(Kind::null) && ttl.safe_integer().value_or(-1) < 0)) {
      refuse_request(message, Errc::message_malformed, "`task` is an object, and its `ttl` a number of milliseconds");
      return;
    }
  }
  if (usable(catalog::ListKind::tools)) {
    decide_call(std::move(message));
  } else {
    hold(std::move(message), catalog::ListKind::tools);
  }
}

std::string Session::Impl::argument_digest(const Value& arguments) const {
  std::string digest = "hmac-sha256:";
  append_hex(digest, argument_mac_.of(arguments ? json::canonical(arguments) : "{}"));
  return digest;
}

void Session::Impl::record_call(const Message& message, std::string_view decision, std::optional<Errc> reason,
                                std::string_view because, const ToolView* tool, std::optional<policy::Effect> effect) {
  const Value arguments = message.params.find("arguments");
  json::Writer w;
  w.begin_object().member("event", "call").member("id", text::printable(message.id_json(), 256));
  w.member("tool", text::printable(message.params.find("name").string(), 256)).member("decision", decision);
  if (reason) {
    w.member("reason", name(*reason));
  }
  w.member("because", because);
  if (tool != nullptr) {
    w.member("effect", policy::name(effect.value_or(tool->effect)));
  }
  switch (config_.policy.audit_arguments) {
    case policy::AuditArguments::none:
      break;
    case policy::AuditArguments::digest:
      w.member("arguments_digest", argument_digest(arguments));
      break;
    case policy::AuditArguments::full:
      w.member_raw("arguments", arguments ? json::canonical(arguments) : "{}");
      break;
  }
  w.end_object();
  record(w.take());
}

// `detail` says what is the matter, in our words only: models read it.
void Session::Impl::refuse_call(const Message& message, Errc code, std::string because, std::string detail,
                                std::optional<policy::Effect> effect) {
  const std::string tool = message.params.find("name").string();
  give_up_place(*message.id);
  record_call(message, "block", code, because, view_ ? view_->find(tool) : nullptr, effect);
  json::Writer meta;
  meta.begin_object().key("dev.mcp-cordon/refusal").begin_object().member("type", name(code));
  meta.end_object().end_object();
  const std::string text =
      text::cat("mcp-cordon refused this call (", name(code), "): ", detail,
                code == Errc::timed_out || code == Errc::rate_limited
                    ? ". The tool was not run; the call may be tried again."
                    : ". The tool was not run. Only a person can change this, outside of this session.");
  if (message.params.find("task")) {
    // Who waits for a task cannot read the result of a call.
    to_client(wire::error_line(*message.id, json_rpc_code(code), text, code));
    return;
  }
  const Era era = message.modern() ? Era::stateless : Era::handshake;
  to_client(wire::result_line(*message.id, wire::refusal_result(text, meta.take(), era)));
}

// A command that can be typed; a name that a shell or a terminal takes for something else stands for itself.
std::string Session::Impl::explain_hint(std::string_view tool) const {
  const bool plain = std::ranges::all_of(tool, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
  return text::cat("; mcp-cordon explain ", config_.spelled, ' ', plain && !tool.starts_with('-') ? tool : "TOOL",
                   " says more");
}

void Session::Impl::refuse_by_policy(const Message& message, std::string_view name, const policy::Verdict& verdict,
                                     policy::Effect effect) {
  notice_once(
      text::cat("a call to '", text::printable(name, 100), "' was refused by ", verdict.because, explain_hint(name)));
  refuse_call(message, Errc::tool_blocked, verdict.because, "the policy does not allow this tool", effect);
}

void Session::Impl::decide_call(Message message) {
  const std::string name = message.params.find("name").string();
  const ToolView* tool = view_->find(name);
  const auto unknown = [&](std::string_view because) {
    give_up_place(*message.id);
    record_call(message, "hide", Errc::tool_not_reviewed, because, tool);
    to_client(wire::error_line(*message.id, json_rpc_code(Errc::tool_not_reviewed),
                               text::cat("Unknown tool: ", text::printable(name, 256)), Errc::tool_not_reviewed));
  };
  if (tool == nullptr) {
    unknown("the server does not offer it");
    return;
  }
  if (tool->verdict.action == policy::Action::hide) {
    unknown(tool->verdict.because);
    return;
  }
  if (tool->refusal == Errc::tool_not_reviewed) {
    notice_once(text::cat("a call to '", text::printable(name, 100),
                          "', which nobody has reviewed, was refused; to look at it: mcp-cordon review ",
                          config_.spelled));
    unknown("not in the snapshot");
    return;
  }
  if (tool->refusal) {
    notice_once(text::cat("a call to '", text::printable(name, 100), "' was refused: its definition is not the one ",
                          "that was reviewed; to look at it: mcp-cordon diff ", config_.spelled));
    refuse_call(message, *tool->refusal, "drift.changed",
                "the definition of this tool is not the one a person reviewed");
    return;
  }
  if (identity_blocked_) {
    refuse_call(message, Errc::tool_changed, "drift of the server's identity, instructions or capabilities",
                "what the server says of itself is not what a person reviewed");
    return;
  }
  const policy::CallJudgement judged = judge_call(*tool, message.params.find("arguments"));
  const policy::Verdict& verdict = judged.verdict;
  const policy::Effect effect = judged.effects.all.front();
  if (is_read_only() && !judged.effects.only(policy::Effect::read)) {
    const char* by = config_.read_only ? "--read-only" : "tools.read_only";
    notice_once(text::cat("a call to '", text::printable(name, 100), "' was refused: read-only session, by ", by));
    refuse_call(message, Errc::tool_blocked, by, "this session is read-only and the tool is not", effect);
    return;
  }
  if (judged.refusal) {
    refuse_arguments(message, name, judged);
    return;
  }
  if (verdict.action == policy::Action::hide) {
    unknown(verdict.because);
    return;
  }
  if (refuse_by_schema(message, *tool) || refuse_as_task(message, *tool)) {
    return;
  }
  if (verdict.action == policy::Action::block) {
    refuse_by_policy(message, name, verdict, effect);
    return;
  }
  pass_call(std::move(message), *tool, judged);
}

}  // namespace cordon::gate
