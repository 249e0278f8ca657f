// SPDX-License-Identifier: Apache-2.0
// What the client says.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/gate/spelled_id.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;
using wire::Direction;
using wire::Era;
using wire::Form;
using wire::MessageKind;
using wire::Revision;

namespace {

TaskExtension shown_extension(bool shown) { return shown ? TaskExtension::shown : TaskExtension::hidden; }

}  // namespace

void Session::Impl::on_client_refused(wire::Refused refused) {
  if (config_.launch_failure) {
    refused.error = *config_.launch_failure;
  }
  record(refused_record(Side::client, refused.error.code, refused.error.detail, refused.id, ""));
  if (refused.id && !refused.has_method && form_failed(*refused.id, "the client's answer to a question was refused")) {
    return;
  }
  notice_once(text::cat("a line of the client was refused: ", name(refused.error.code), ": ",
                        text::printable(refused.error.detail, 200)));
  if (!refused.has_method && (refused.id || refused.unreadable_id)) {
    fail_questions(refused.id, refused.error.code, "the client's answer could not be read");
  }
  // An id that is outstanding already gets its one reply from the server.
  if (refused.id && refused.has_method && !id_in_use(*refused.id)) {
    to_client(wire::error_line(*refused.id, refused.error.code, refused.error.detail));
  } else if (!refused.id) {
    const auto waits = [this](const Id& id) { return id_in_use(id); };
    if (const auto answer = answer_as_spelled(refused, limits_, waits)) {
      to_client(*answer);
    }
  }
}

void Session::Impl::on_client_overlong(const wire::OverlongLine& line) {
  wire::Refused refused;
  refused.error = {
      Errc::message_too_large, text::cat("a line of ", line.bytes, " bytes, more than ", limits_.max_bytes), {}, {}};
  refused.id = line.scanned.id;
  refused.has_method = line.scanned.has_method;
  const bool reply = !refused.has_method;
  on_client_refused(std::move(refused));
  if (reply) {
    fail_questions(line.scanned.id, Errc::message_too_large, "the client's answer was too long");
  }
}

// While `initialize` is on its way, what follows it keeps its order behind it. True when the message was taken.
bool Session::Impl::keep_early(Message& message) {
  const bool request = message.kind == MessageKind::request;
  if (handshake_ != Handshake::asked || message.modern() || message.method == "server/discover" ||
      message.method == "ping" || (!request && message.kind != MessageKind::notification)) {
    return false;
  }
  if (request && !admit_id(message)) {
    return true;
  }
  if (!request && message.method == "notifications/cancelled") {
    return drop_early(message);  // at once: what was given up does not wait, nor needs room to be given up
  }
  const std::size_t bytes = message.document.text().size();
  // The word that the handshake is done needs no room: without it nothing goes on.
  const bool crowded = early_.size() >= config_.policy.messages.in_flight;
  if (held_bytes_ + bytes > limits_.max_bytes || (crowded && message.method != "notifications/initialized")) {
    constexpr std::string_view kWhy = "too much waits for the answer to initialize already";
    if (request) {
      refuse_request(message, Errc::rate_limited, std::string(kWhy));
    } else {
      record(refused_record(Side::client, Errc::rate_limited, kWhy, {}, message.method));
    }
    return true;
  }
  held_bytes_ += bytes;
  early_.push_back(std::move(message));
  return true;
}

// True when the cancellation was of a request that waits for the handshake.
bool Session::Impl::drop_early(const Message& cancellation) {
  const Value target = cancellation.params.find("requestId");
  const auto id = target ? wire::read_id(target) : fail(Errc::message_malformed, "no requestId");
  const auto found = std::ranges::find_if(early_, [&](const Message& one) { return id && one.id == *id; });
  if (found == early_.end()) {
    return false;
  }
  held_bytes_ -= found->document.text().size();
  early_.erase(found);
  return true;
}

void Session::Impl::replay_early() {
  for (Message& message : std::exchange(early_, {})) {
    held_bytes_ -= message.document.text().size();
    on_client_message(std::move(message));
  }
}

void Session::Impl::on_client_message(Message message) {
  if (!config_.launch_failure && keep_early(message)) {
    return;
  }
  switch (message.kind) {
    case MessageKind::request:
      on_client_request(std::move(message));
      return;
    case MessageKind::notification:
      on_client_notification(std::move(message));
      return;
    case MessageKind::result:
    case MessageKind::error:
      on_client_reply(std::move(message));
      return;
  }
}

void Session::Impl::refuse_request(const Message& message, Errc code, std::string detail) {
  record(refused_record(Side::client, code, detail, message.id, message.method));
  to_client(wire::error_line(*message.id, code, detail));
}

bool Session::Impl::id_in_use(const Id& id) const {
  const auto same = [&](const Held& held) { return held.message.id == id; };
  const auto early = [&](const Message& waiting) { return waiting.id == id; };
  return outstanding_.contains(id) || asked_.contains(id) || std::ranges::any_of(held_, same) ||
         std::ranges::any_of(early_, early);
}

// False when the id may not be used; then everything is said.
bool Session::Impl::admit_id(const Message& message) {
  const Id& id = *message.id;
  if (id_in_use(id)) {
    // Not answered: the one answer that this id gets is that of the first request.
    record(
        refused_record(Side::client, Errc::message_ambiguous, "the id of an outstanding request", id, message.method));
    notice_once("the client used the id of an outstanding request again; the second request was dropped");
    return false;
  }
  if (id.is_string() && id.text().starts_with(wire::kOwnIdPrefix)) {
    refuse_request(message, Errc::message_ambiguous, "ids with this prefix are kept for mcp-cordon itself");
    return false;
  }
  if (std::ranges::find(cancelled_, id) != cancelled_.end()) {
    refuse_request(message, Errc::message_ambiguous, "the id of a request that was cancelled and not answered");
    return false;
  }
  if (outstanding_.size() + held_.size() + early_.size() + asked_.size() >= config_.policy.messages.in_flight) {
    refuse_request(message, Errc::rate_limited, text::cat(config_.policy.messages.in_flight, " requests wait already"));
    return false;
  }
  if (!words_.empty()) {
    words_.erase(id.json());  // of an earlier request with this id that was given up
  }
  retried_.erase(id);
  return true;
}

// The revision that a request belongs to; nothing when it may not be asked, and then everything is said.
std::optional<Revision> Session::Impl::admit_era(const Message& message) {
  // server/discover belongs to the stateless era even without the members that it must have: the server says so itself.
  if (message.modern() || message.method == "server/discover") {
    const auto asked = message.modern() ? wire::revision_from_name(message.modern_version) : Revision::v2026_07_28;
    if (!asked || !wire::is_stateless(*asked)) {
      // -32022 with `supported` is how this era negotiates; a client must be able to tell it from a refusal.
      record(refused_record(Side::client, Errc::method_not_allowed, "unknown protocol version", message.id,
                            message.method));
      to_client(text::cat(R"({"jsonrpc":"2.0","id":)", message.id_json(),
                          R"(,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":[")",
                          wire::name(Revision::v2026_07_28), R"("],"requested":)", json::quoted(message.modern_version),
                          R"(,"type":"method_not_allowed"}}})", "\n"));
      return std::nullopt;
    }
    stateless_seen_ = true;
    return asked;
  }
  if (handshake_ < Handshake::answered && message.method != "initialize" && message.method != "ping") {
    refuse_request(message, Errc::method_not_allowed,
                   text::cat(text::printable(message.method, 100), " before initialize was answered"));
    return std::nullopt;
  }
  return revision_;
}

// By the table and the reviewed capabilities. In the stateless era the server may not have been heard yet: then only
// the base and what is listed is offered, since their judgement waits for the server by itself.
bool Session::Impl::offered(Revision revision, const Message& message) const {
  const auto feature = wire::lookup(revision, Direction::to_server, Form::request, message.method);
  if (!feature) {
    return false;
  }
  if (*feature == wire::Feature::tasks) {
    return tasks_offered(revision, message.method);
  }
  return opening_ ? opening_->features.contains(*feature)
                  : *feature == wire::Feature::base || *feature == wire::Feature::tools ||
                        *feature == wire::Feature::prompts || *feature == wire::Feature::resources;
}

// What our own requests of the stateless era carry: the client's own words, less what the server may not see.
void Session::Impl::remember_stateless_meta(const Message& message) {
  const Value meta = message.meta();
  json::Writer w;
  w.begin_object().member(wire::kMetaVersion, wire::name(Revision::v2026_07_28));
  if (const Value info = meta.find(wire::kMetaClientInfo)) {
    w.member_raw(wire::kMetaClientInfo, info.raw());
  }
  w.member_raw(wire::kMetaClientCapabilities,
               client_capabilities_for_server(meta.find(wire::kMetaClientCapabilities), config_.policy.client_requests,
                                              shown_extension(task_extension())));
  w.end_object();
  stateless_meta_ = w.take();
}

void Session::Impl::on_client_request(Message message) {
  if (config_.launch_failure) {
    to_client(wire::error_line(*message.id, config_.launch_failure->code, config_.launch_failure->detail));
    if (message.method == "initialize") {
      stop(exit_status(config_.launch_failure->code));
    }
    return;
  }
  if (!admit_id(message)) {
    return;
  }
  const auto revision = admit_era(message);
  if (!revision) {
    return;
  }
  if (!offered(*revision, message)) {
    refuse_request(message, Errc::method_not_allowed,
                   text::cat(text::printable(message.method, 100), " is not part of what was reviewed"));
    return;
  }
  if (wire::is_stateless(*revision)) {
    remember_stateless_meta(message);
  }
  if (message.method == "tools/call" && !take_word(message)) {
    return;
  }
  // Answers to what was asked in the course of a task are told apart by the task.
  if (message.method == "tasks/update" || admit_answers(message)) {
    dispatch_request(std::move(message));
  }
}

// What may be asked, on its way to where it is judged.
void Session::Impl::dispatch_request(Message message) {
  if (message.method == "initialize") {
    on_initialize(std::move(message));
  } else if (const auto kind = catalog::list_kind_of_method(message.method)) {
    on_list(std::move(message), *kind);
  } else if (message.method == "tools/call") {
    on_call(std::move(message));
  } else if (message.method == "prompts/get") {
    on_prompt(std::move(message));
  } else if (message.method.starts_with("resources/")) {
    on_resource(std::move(message));
  } else if (message.method == "completion/complete") {
    on_completion(std::move(message));
  } else if (message.method.starts_with("tasks/")) {
    on_task(std::move(message));
  } else if (message.method == "subscriptions/listen") {
    on_listen(std::move(message));
  } else {
    forward_request(std::move(message), {});
  }
}

// The line for the server: as it came, unless members of ours or capabilities that the server may not see stand in it.
std::string Session::Impl::client_line(Message message) {
  const Value root = message.document.root();
  const bool own = wire::has_own_meta(root);
  const Value capabilities = message.meta().find(wire::kMetaClientCapabilities);
  const bool rewrite =
      capabilities && needs_rewriting(capabilities, config_.policy.client_requests, shown_extension(task_extension()));
  if (!own && !rewrite) {
    std::string line = std::move(message.document).take_text();
    line += '\n';
    return line;
  }
  if (own) {
    record(refused_record(Side::client, Errc::message_ambiguous, "members under dev.mcp-cordon/ were removed",
                          message.id, message.method));
    auto cleaned = wire::parse(wire::without_own_meta(root), limits_);
    CORDON_ASSERT(cleaned.has_value());
    return client_line(std::move(*cleaned));
  }
  const auto edit_meta = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == wire::kMetaClientCapabilities
               ? std::optional(client_capabilities_for_server(value, config_.policy.client_requests,
                                                              shown_extension(task_extension())))
               : std::nullopt;
  };
  const auto edit_params = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "_meta" ? std::optional(wire::edited(value, edit_meta)) : std::nullopt;
  };
  const auto edit = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "params" ? std::optional(wire::edited(value, edit_params)) : std::nullopt;
  };
  return wire::edited(root, edit) + '\n';
}

void Session::Impl::forward_request(Message message, Outstanding outstanding) {
  outstanding.method = message.method;
  outstanding.era = message.modern() || message.method == "server/discover" ? Era::stateless : Era::handshake;
  if (const Value token = message.meta().find("progressToken")) {
    if (auto id = wire::read_id(token)) {
      outstanding.progress_token = *id;
      progress_tokens_.insert(std::move(*id));
    }
  }
  if (outstanding.era == Era::stateless) {
    outstanding.offers = read_offers(message.meta().find(wire::kMetaClientCapabilities));
    remember_line(message, outstanding);
  }
  outstanding.wants_task = message.method == "tools/call" && !message.modern() && message.params.find("task");
  outstanding.may_become_task =
      outstanding.wants_task || (message.method == "tools/call" && declares_tasks(message) && task_extension());
  outstanding.sent_at = now_;
  probes_sent_ += message.method == "server/discover" ? 1U : 0U;
  set_answer_deadline(outstanding);
  if (const auto retried = retried_.extract(*message.id); retried && retried.mapped()) {
    outstanding.answer_by =
        outstanding.answer_by ? std::min(*outstanding.answer_by, *retried.mapped()) : retried.mapped();
  }
  outstanding_.emplace(*message.id, std::move(outstanding));
  to_server(client_line(std::move(message)));
}

void Session::Impl::on_initialize(Message message) {
  if (handshake_ != Handshake::none) {
    refuse_request(message, Errc::method_not_allowed, "initialize was asked before");
    return;
  }
  handshake_ = Handshake::asked;
  initialize_asked_ = true;
  client_shows_forms_ = shows_forms(message.params.find("capabilities"));
  const auto edit_params = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "capabilities" ? std::optional(client_capabilities_for_server(value, config_.policy.client_requests,
                                                                                TaskExtension::hidden))
                                 : std::nullopt;
  };
  const auto edit = [&](std::string_view key, const Value& value) -> std::optional<std::string> {
    return key == "params" ? std::optional(wire::edited(value, edit_params)) : std::nullopt;
  };
  offers_ = read_offers(message.params.find("capabilities"));
  if (needs_rewriting(message.params.find("capabilities"), config_.policy.client_requests, TaskExtension::hidden)) {
    auto rewritten = wire::parse(wire::edited(message.document.root(), edit), limits_);
    CORDON_ASSERT(rewritten.has_value());
    message = std::move(*rewritten);
  }
  forward_request(std::move(message), {});
}

void Session::Impl::on_list(Message message, catalog::ListKind kind) {
  // Each question of the client makes us look again; what it gets is judged, never merely passed on.
  const Value cursor = message.params.find("cursor");
  if (!cursor || cursor.is(Kind::null)) {
    ++list(kind).epoch;
  }
  hold(std::move(message), kind);
}

}  // namespace cordon::gate
