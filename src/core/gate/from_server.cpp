// SPDX-License-Identifier: Apache-2.0
// What the server says. It is untrusted: every reply must be asked for, every notification must be about something.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/catalog/interface.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;
using wire::Direction;
using wire::Era;
using wire::Feature;
using wire::Form;
using wire::MessageKind;
using wire::Revision;

void Session::Impl::on_server_refused(wire::Refused refused) {
  const bool awaited = refused.id && !refused.has_method &&
                       (outstanding_.contains(*refused.id) || own_.contains(std::string(refused.id->text())));
  if (!refused.is_json_rpc && !awaited) {
    record(stray_record(refused.line));
    actions_.emplace_back(Stray{std::move(refused.line)});
    return;
  }
  record(refused_record(Side::server, refused.error.code, refused.error.detail, refused.id, ""));
  notice_server(text::cat("a line of the server was refused: ", name(refused.error.code), ": ",
                          text::printable(refused.error.detail, 200)));
  if (refused.has_method) {
    return;
  }
  if (!refused.id) {
    // A reply whose id cannot be told may be the answer to any request: none is left waiting.
    if (refused.unreadable_id) {
      fail_all_outstanding(refused.error.code, "a reply of the server could not be read");
    }
    return;
  }
  if (const auto found = outstanding_.find(*refused.id); found != outstanding_.end()) {
    const Outstanding request = std::move(found->second);
    outstanding_.erase(found);
    fail_reply(*refused.id, request, refused.error.code, "the server's reply could not be read");
  } else if (own_.contains(std::string(refused.id->text()))) {
    own_request_failed(*refused.id, refused.error.code, "could not be read");
  }
}

void Session::Impl::on_server_overlong(const wire::OverlongLine& line) {
  const std::string detail = text::cat("a line of ", line.bytes, " bytes, more than ", limits_.max_bytes);
  record(refused_record(Side::server, Errc::message_too_large, detail, line.scanned.id, ""));
  notice_server(text::cat("the server wrote ", detail, "; it was dropped"));
  if (line.scanned.has_method) {
    return;
  }
  if (line.scanned.id) {
    if (const auto found = outstanding_.find(*line.scanned.id); found != outstanding_.end()) {
      const Outstanding request = std::move(found->second);
      outstanding_.erase(found);
      fail_reply(*line.scanned.id, request, Errc::result_too_large, "the result is larger than this session takes");
    } else if (own_.contains(std::string(line.scanned.id->text()))) {
      own_request_failed(*line.scanned.id, Errc::message_too_large, "is too long");
    }
    return;
  }
  fail_all_outstanding(Errc::result_too_large, "the server wrote a line that was too long to read");
}

void Session::Impl::fail_all_outstanding(Errc code, std::string_view detail) {
  for (auto& [id, request] : std::exchange(outstanding_, {})) {
    abandon(id, request);
    fail_reply(id, request, code, detail);
  }
  if (!own_.empty()) {
    walks_failed({code, std::string(detail), {}, {}});
  }
}

std::string withheld_result(Errc code, std::string_view detail, Era era) {
  json::Writer meta;
  meta.begin_object().key("dev.mcp-cordon/refusal").begin_object().member("type", name(code)).end_object().end_object();
  const std::string text =
      text::cat("mcp-cordon withheld the answer to this call (", name(code), "): ", detail,
                code == Errc::audit_unavailable ? ". The tool may or may not have run." : ". The tool may have run.");
  return wire::refusal_result(text, meta.take(), era);
}

// In place of a reply that did not come or may not pass. The request is no longer outstanding.
void Session::Impl::fail_reply(const Id& id, const Outstanding& request, Errc code, std::string_view detail) {
  forget_token(request);
  const bool opening = request.method == "initialize";
  if (opening) {
    handshake_ = Handshake::none;
  }
  const bool shown_as_result =
      (request.method == "tools/call" && !request.wants_task) || request.method == "tasks/result";
  if (!shown_as_result || code == Errc::server_exited) {
    to_client(wire::error_line(id, code, detail));
    if (opening) {
      replay_early();
    }
    return;
  }
  to_client(wire::result_line(id, withheld_result(code, detail, request.era)));
}

void Session::Impl::forget_token(const Outstanding& request) {
  if (request.progress_token) {
    if (const auto found = progress_tokens_.find(*request.progress_token); found != progress_tokens_.end()) {
      progress_tokens_.erase(found);
    }
  }
}

void Session::Impl::on_server_message(Message message) {
  switch (message.kind) {
    case MessageKind::request:
      on_server_request(std::move(message));
      return;
    case MessageKind::notification:
      on_server_notification(std::move(message));
      return;
    case MessageKind::result:
    case MessageKind::error:
      on_server_reply(std::move(message));
      return;
  }
}

void Session::Impl::on_server_reply(Message message) {
  if (!message.id) {
    record(refused_record(Side::server, Errc::reply_unexpected, "an error without id", {}, ""));
    return;
  }
  if (message.id->text().starts_with(wire::kOwnIdPrefix)) {
    on_own_reply(std::move(message));
    return;
  }
  const auto found = outstanding_.find(*message.id);
  if (found == outstanding_.end()) {
    answered_late(message);
    const auto late = std::ranges::find(cancelled_, *message.id);
    if (late != cancelled_.end()) {
      cancelled_.erase(late);  // the race of a cancellation and its answer is legal
      return;
    }
    record(refused_record(Side::server, Errc::reply_unexpected, "a reply to no outstanding request", message.id, ""));
    return;
  }
  const Outstanding request = std::move(found->second);
  outstanding_.erase(found);
  forget_token(request);
  if (request.method.starts_with("tasks/")) {
    on_task_reply(std::move(message), request);
    return;
  }
  if (asks_client(message)) {
    on_asking_reply(std::move(message), request);
    return;
  }
  if (message.kind == MessageKind::error) {
    const bool opening = request.method == "initialize";
    if (!opening && refuse_by_size(message, request)) {
      return;
    }
    if (opening) {
      handshake_ = Handshake::none;
    }
    pass_reply(std::move(message), request);
    if (opening) {
      replay_early();
    }
  } else if (request.method == "initialize") {
    on_initialize_reply(std::move(message));
  } else if (request.method == "server/discover") {
    on_discover_reply(std::move(message), false);
  } else {
    on_call_reply(std::move(message), request);
  }
}

// A result on its way to the client: of a call, a ping, a log level or a subscription.
void Session::Impl::on_call_reply(Message message, const Outstanding& request) {
  if (request.may_become_task && is_new_task(message.result)) {
    on_new_task(std::move(message), request);
    return;
  }
  const Value type = message.result.find("resultType");
  if (is_new_task(message.result) || (type && (!type.is(Kind::string) || !type.string_equals("complete")))) {
    record(refused_record(Side::server, Errc::method_not_allowed, "a result of a type that was not reviewed",
                          message.id, request.method));
    fail_reply(*message.id, request, Errc::method_not_allowed,
               "the result is of a kind that this session does not pass");
    return;
  }
  if (!request.interface_digest.empty() && catalog::contents_digest(message.result) != request.interface_digest) {
    record_drift({"interface", request.tool, "changed", policy::DriftAction::block, "",
                  catalog::contents_digest(message.result).value_or("")});
    notice_once(text::cat("the interface of tool '", text::printable(request.tool, 100),
                          "' is not the one that was reviewed; it was withheld"));
    fail_reply(*message.id, request, Errc::tool_changed, "the content is not the one a person reviewed");
    return;
  }
  if (names_unknown_task(message.meta())) {
    withhold_answer(message, request, {Errc::reply_unexpected, "a result of a task that does not exist", {}, {}});
    return;
  }
  if (refuse_answer(message, request)) {
    return;
  }
  overhear(message.result);
  pass_reply(std::move(message), request);
}

void Session::Impl::overhear(const Value& result) {
  constexpr std::size_t kMaxBytes = 2'000;
  const Value failed = result.find("isError");
  if (!failed.is(Kind::boolean) || !failed.boolean()) {
    return;
  }
  for (const Value block : result.find("content").elements()) {
    if (const Value text = block.find("text"); text.is(Kind::string)) {
      actions_.emplace_back(Overheard{text.string().substr(0, kMaxBytes)});
      return;
    }
  }
}

// `message` without members under our prefix, which is written down.
Session::Impl::Message Session::Impl::without_ours(Message message) {
  const Value root = message.document.root();
  if (!wire::has_own_meta(root)) {
    return message;
  }
  record(refused_record(Side::server, Errc::message_ambiguous, "members under dev.mcp-cordon/ were removed", message.id,
                        message.method));
  auto cleaned = wire::parse(wire::without_own_meta(root), limits_);
  CORDON_ASSERT(cleaned.has_value());
  return std::move(*cleaned);
}

void Session::Impl::pass_reply(Message message, const Outstanding& request) {
  message.method = request.method;
  message = without_ours(std::move(message));
  to_client(treated_line(std::move(message.document), message.id, request.tool.empty() ? request.method : request.tool,
                         request.flagged));
}

void Session::Impl::on_initialize_reply(Message message) {
  const Value version = message.result.find("protocolVersion");
  const auto revision =
      version.is(Kind::string) ? wire::revision_from_name(version.string()) : std::optional<Revision>();
  if (!revision || wire::is_stateless(*revision)) {
    record(refused_record(Side::server, Errc::method_not_allowed, "the server chose an unknown protocol version",
                          message.id, "initialize"));
    handshake_ = Handshake::none;
    to_client(wire::error_line(*message.id, Errc::method_not_allowed,
                               "the server chose a protocol version that this version of mcp-cordon does not know"));
    replay_early();
    return;
  }
  handshake_ = Handshake::answered;
  revision_ = *revision;
  record(opened_record("handshake", wire::name(*revision)));
  learn_identity(read_identity(message.result, message.result.find("serverInfo")));
  to_client(wire::result_line(*message.id, initialize_result(wire::name(*revision), *opening_, config_.facts)));
  replay_early();
}

void Session::Impl::on_discover_reply(Message message, bool own) {
  bool supported = false;
  for (const Value version : message.result.find("supportedVersions").elements()) {
    supported = supported || (version.is(Kind::string) && version.string_equals(wire::name(Revision::v2026_07_28)));
  }
  if (supported) {
    record(opened_record("stateless", wire::name(Revision::v2026_07_28)));
    learn_identity(read_identity(message.result, message.result.find("_meta").find(wire::kMetaServerInfo)));
  }
  if (!supported) {
    identity_unknown("the server speaks no known version");
  }
  if (own) {
    return;
  }
  if (supported) {
    to_client(wire::result_line(*message.id, discover_result(*opening_, config_.facts)));
  } else {
    // A client takes this for a server of the handshake era and opens with initialize.
    to_client(wire::error_line(*message.id, Errc::method_not_allowed, "no common version in server/discover"));
  }
}

void Session::Impl::on_own_reply(Message message) {
  const auto found = own_.find(std::string(message.id->text()));
  if (const auto told = std::ranges::find(told_tasks_, message.id->text()); told != told_tasks_.end()) {
    told_tasks_.erase(told);
    return;
  }
  if (found == own_.end()) {
    record(refused_record(Side::server, Errc::reply_unexpected, "a reply to no request of ours", message.id, ""));
    return;
  }
  const OwnRequest request = found->second;
  own_.erase(found);
  Learning& list = this->list(request.kind);
  if (!list.walk || list.walk->ids.erase(std::string(message.id->text())) == 0) {
    return;  // of a walk that was given up
  }
  if (request.own == Own::discover) {
    if (message.kind == MessageKind::result) {
      on_discover_reply(std::move(message), true);
    } else {
      identity_unknown("the server answered server/discover with an error");
    }
    list.walk->identity_done = true;
    walk_finished(list);
    return;
  }
  if (message.kind == MessageKind::error) {
    if (message.error.find("code").safe_integer() == -32601) {
      list.walk->list_done = true;  // a server without such items
      walk_finished(list);
      return;
    }
    walk_failed(request.kind, {Errc::catalog_invalid,
                               text::cat("the server answered ", catalog::names(request.kind).method, " with error ",
                                         text::printable(message.error.find("code").raw(), 20)),
                               {},
                               {}});
    return;
  }
  const auto last = list.walk->list.add_page(message.result);
  if (!last) {
    walk_failed(request.kind, last.error());
  } else if (*last) {
    list.walk->list_done = true;
    walk_finished(list);
  } else {
    continue_walk(list);
  }
}

}  // namespace cordon::gate
