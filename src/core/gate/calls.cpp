// SPDX-License-Identifier: Apache-2.0
// tools/call: held until the live list is judged, then the pin, then rules, then effects.
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
  if (message.params.find("task")) {
    refuse_request(message, Errc::method_not_allowed, "tasks are not part of what was reviewed");
    return;
  }
  if (message.params.find("inputResponses") || message.params.find("requestState")) {
    // No question of a server passes, so there is none that this could answer.
    refuse_call(message, Errc::client_request_blocked, "inputResponses without a question",
                "it answers a question that was never passed on");
    return;
  }
  if (usable(catalog::ListKind::tools)) {
    decide_call(std::move(message));
  } else {
    hold(std::move(message), catalog::ListKind::tools);
  }
}

void Session::Impl::record_call(const Message& message, std::string_view decision, std::optional<Errc> reason,
                                std::string_view because, const ToolView* tool) {
  const Value arguments = message.params.find("arguments");
  json::Writer w;
  w.begin_object().member("event", "call").member("id", text::printable(message.id_json(), 256));
  w.member("tool", text::printable(message.params.find("name").string(), 256)).member("decision", decision);
  if (reason) {
    w.member("reason", name(*reason));
  }
  w.member("because", because);
  if (tool != nullptr) {
    w.member("effect", policy::name(tool->effect));
  }
  switch (config_.policy.audit_arguments) {
    case policy::AuditArguments::none:
      break;
    case policy::AuditArguments::digest:
      w.member("arguments_digest",
               "hmac-sha256:" + hex(hmac_sha256(config_.argument_key, arguments ? json::canonical(arguments) : "{}")));
      break;
    case policy::AuditArguments::full:
      w.member_raw("arguments", arguments ? json::canonical(arguments) : "{}");
      break;
  }
  w.end_object();
  record(w.take());
}

// `detail` says what is the matter, in our words only: models read it.
void Session::Impl::refuse_call(const Message& message, Errc code, std::string because, std::string detail) {
  const std::string tool = message.params.find("name").string();
  record_call(message, "block", code, because, view_ ? view_->find(tool) : nullptr);
  json::Writer meta;
  meta.begin_object().key("dev.mcp-cordon/refusal").begin_object().member("type", name(code));
  meta.end_object().end_object();
  const std::string text =
      text::cat("mcp-cordon refused this call (", name(code), "): ", detail,
                code == Errc::timed_out || code == Errc::rate_limited
                    ? ". The tool was not run; the call may be tried again."
                    : ". The tool was not run. Only a person can change this, outside of this session.");
  const Era era = message.modern() ? Era::stateless : Era::handshake;
  to_client(wire::result_line(*message.id, wire::refusal_result(text, meta.take(), era)));
}

void Session::Impl::refuse_by_policy(const Message& message, std::string_view name, const policy::Verdict& verdict) {
  const bool confirm = verdict.action == policy::Action::confirm;
  notice_once(text::cat("a call to '", text::printable(name, 100), "' ",
                        confirm ? "needs a confirmation by " : "was refused by ", verdict.because,
                        confirm ? "; this version cannot ask and refuses it" : "", "; mcp-cordon explain ",
                        config_.policy.server, " says more"));
  refuse_call(message, Errc::tool_blocked, verdict.because,
              confirm ? "the policy wants a person to confirm it, and this version cannot ask yet"
                      : "the policy does not allow this tool");
}

void Session::Impl::decide_call(Message message) {
  const std::string name = message.params.find("name").string();
  const ToolView* tool = view_->find(name);
  const auto unknown = [&](std::string_view because) {
    record_call(message, "hide", Errc::tool_not_reviewed, because, tool);
    to_client(wire::error_line(*message.id, json_rpc_code(Errc::tool_not_reviewed),
                               text::cat("Unknown tool: ", text::printable(name, 256)), Errc::tool_not_reviewed));
  };
  if (tool == nullptr) {
    unknown("the server does not offer it");
    return;
  }
  const policy::Verdict& verdict = tool->verdict;
  if (verdict.action == policy::Action::hide) {
    unknown(verdict.because);
    return;
  }
  if (tool->refusal == Errc::tool_not_reviewed) {
    notice_once(text::cat("a call to '", text::printable(name, 100),
                          "', which nobody has reviewed, was refused; to look at it: mcp-cordon review ",
                          config_.policy.server));
    unknown("not in the snapshot");
    return;
  }
  if (tool->refusal) {
    notice_once(text::cat("a call to '", text::printable(name, 100), "' was refused: its definition is not the one ",
                          "that was reviewed; to look at it: mcp-cordon diff ", config_.policy.server));
    refuse_call(message, *tool->refusal, "drift.changed",
                "the definition of this tool is not the one a person reviewed");
    return;
  }
  if (identity_blocked_) {
    refuse_call(message, Errc::tool_changed, "drift of the server's identity, instructions or capabilities",
                "what the server says of itself is not what a person reviewed");
    return;
  }
  if (config_.read_only && !tool->reviewed_read) {
    refuse_call(message, Errc::tool_blocked, "--read-only", "this session is read-only and the tool is not");
    return;
  }
  if (refuse_by_schema(message, *tool)) {
    return;
  }
  if (verdict.action == policy::Action::block || verdict.action == policy::Action::confirm) {
    refuse_by_policy(message, name, verdict);
    return;
  }
  Outstanding outstanding;
  outstanding.tool = name;
  if (!admit_by_limits(message, outstanding)) {
    return;
  }
  const bool flagged = tool->flagged || verdict.action == policy::Action::flag;
  if (flagged) {
    notice_once(text::cat("a call to '", text::printable(name, 100), "' passed and is flagged"));
  }
  record_call(message, flagged ? "flag" : "allow", std::nullopt, verdict.because, tool);
  outstanding.flagged = flagged;
  forward_request(std::move(message), std::move(outstanding));
}

}  // namespace cordon::gate
