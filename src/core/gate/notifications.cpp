// SPDX-License-Identifier: Apache-2.0
// Notifications of both sides: each must be in the table, and about something that is open.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
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
using wire::Revision;

void Session::Impl::on_list_changed(std::string_view method, Era era) {
  for (const catalog::ListKind kind : catalog::kListKinds) {
    // One word stands for resources and for their templates.
    const bool meant = method == "notifications/resources/list_changed"
                           ? kind == catalog::ListKind::resources || kind == catalog::ListKind::templates
                           : method == text::cat("notifications/", catalog::names(kind).member, "/list_changed");
    if (meant) {
      list(kind).use_epoch = ++list(kind).epoch;
      want_walk(kind, era);
    }
  }
}

// Why a notification is about nothing that the client asked for; empty when it is.
std::string_view Session::Impl::unasked(const Message& message) {
  if (message.method == "notifications/resources/updated") {
    const Value uri = message.params.find("uri");
    return uri.is(Kind::string) && is_watched(uri.string()) ? "" : "an update of a resource that nobody watches";
  }
  if (message.method == "notifications/progress") {
    const Value given = message.params.find("progressToken");
    const auto token = wire::read_id(given ? given : message.document.root());
    return token && (progress_tokens_.contains(*token) || tasks_.holds_token(*token))
               ? ""
               : "progress of no outstanding request";
  }
  if (message.method == "notifications/cancelled") {
    const Value target = message.params.find("requestId");
    const auto id = target ? wire::read_id(target) : fail(Errc::message_malformed, "no requestId");
    const auto listen = id ? outstanding_.find(*id) : outstanding_.end();
    // The listen request stays outstanding: servers may answer it as well.
    const bool ends_listen = listen != outstanding_.end() && listen->second.method == "subscriptions/listen" &&
                             !std::exchange(listen->second.ended, true);
    return ends_listen ? "" : "a cancellation of nothing that the server may cancel";
  }
  if (message.method == "notifications/subscriptions/acknowledged") {
    const Value tag = message.meta().find(wire::kMetaSubscription);
    const auto id = tag ? wire::read_id(tag) : fail(Errc::message_malformed, "no subscription id");
    const auto listen = id ? outstanding_.find(*id) : outstanding_.end();
    const bool first = listen != outstanding_.end() && listen->second.method == "subscriptions/listen" &&
                       !std::exchange(listen->second.acknowledged, true);
    return first ? "" : "an acknowledgement of no subscription";
  }
  return "";
}

void Session::Impl::on_server_notification(Message message) {
  if (on_question_notification(message)) {
    return;
  }
  const bool stateless = handshake_ == Handshake::none;
  const Revision revision = stateless ? Revision::v2026_07_28 : revision_;
  auto feature = wire::lookup(revision, Direction::to_client, Form::notification, message.method);
  if (!feature && stateless_seen_) {
    // A server that speaks both eras may serve both at once.
    feature = wire::lookup(Revision::v2026_07_28, Direction::to_client, Form::notification, message.method);
  }
  const auto drop = [&](Errc code, std::string_view why) {
    record(refused_record(Side::server, code, why, {}, message.method));
  };
  if (!feature ||
      !(opening_ ? opening_->features.contains(*feature) : *feature == Feature::base || *feature == Feature::tools)) {
    drop(Errc::method_not_allowed, "a notification that is not part of what was reviewed");
    return;
  }
  if (message.method.ends_with("/list_changed")) {
    on_list_changed(message.method, stateless ? Era::stateless : Era::handshake);
    return;
  }
  if (const std::string_view why = unasked(message); !why.empty()) {
    drop(Errc::reply_unexpected, why);
    return;
  }
  if (names_unknown_task(message.meta())) {
    drop(Errc::reply_unexpected, "news of a task that does not exist");
    return;
  }
  message = without_ours(std::move(message));
  if (*feature == Feature::tasks) {
    on_task_notification(message);
    return;
  }
  to_client(treated_line(std::move(message.document), {}, message.method, false));
}

void Session::Impl::on_client_notification(Message message) {
  if (config_.launch_failure) {
    return;
  }
  const Revision revision =
      message.modern() || (handshake_ == Handshake::none && stateless_seen_) ? Revision::v2026_07_28 : revision_;
  const bool exists = wire::lookup(revision, Direction::to_server, Form::notification, message.method).has_value();
  if (exists && message.method == "notifications/cancelled") {
    on_cancelled(std::move(message));
    return;
  }
  if (exists && message.method == "notifications/initialized" && handshake_ == Handshake::answered) {
    handshake_ = Handshake::initialized;
    to_server(client_line(std::move(message)));
    want_walk(catalog::ListKind::tools, Era::handshake);
    return;
  }
  if (exists && on_answering_notification(message)) {
    return;
  }
  record(refused_record(Side::client, Errc::method_not_allowed, "a notification that is not passed on", {},
                        message.method));
}

void Session::Impl::on_cancelled(Message message) {
  const Value target = message.params.find("requestId");
  const auto id = target ? wire::read_id(target) : fail(Errc::message_malformed, "no requestId");
  if (!id) {
    record(refused_record(Side::client, id.error().code, id.error().detail, {}, message.method));
    return;
  }
  const auto held = std::ranges::find_if(held_, [&](const Held& one) { return one.message.id == *id; });
  if (held != held_.end()) {
    held_bytes_ -= held->bytes;
    held_.erase(held);
    reserved_.erase(holder_of(*id));
    return;
  }
  if (cancel_asked(*id)) {
    return;
  }
  const auto found = outstanding_.find(*id);
  if (found == outstanding_.end() || found->second.method == "initialize") {
    record(refused_record(Side::client, Errc::reply_unexpected, "a cancellation of no outstanding request", *id,
                          message.method));
    return;
  }
  forget_token(found->second);
  abandon(*id, found->second);
  outstanding_.erase(found);
  cancelled_.push_back(*id);
  if (cancelled_.size() > kRememberedCancelled) {
    cancelled_.pop_front();
  }
  to_server(client_line(std::move(message)));
}

}  // namespace cordon::gate
