// SPDX-License-Identifier: Apache-2.0
// Learning the live catalog in the very process that serves, and what waits for it.
#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/wire/names.hpp"

namespace cordon::gate {

using json::Kind;
using json::Value;
using wire::Era;

void Session::Impl::hold(Message message) {
  const Era era = message.modern() ? Era::stateless : Era::handshake;
  const std::size_t bytes = message.document.text().size();
  if (held_bytes_ + bytes > limits_.max_bytes) {
    refuse_request(message, Errc::rate_limited, "too much waits for the server's tool list already");
    return;
  }
  held_bytes_ += bytes;
  const std::uint64_t epoch = message.method == "tools/call" ? call_epoch_ : epoch_;
  held_.push_back({std::move(message), epoch, now_ + kLearnTimeoutMs, now_ + kMaxLearnMs, bytes});
  want_walk(era);
  release_held();
}

// A walk in flight that began before the latest change is followed by another one; see walk_finished(). What nobody
// waits for is done at a measured pace, since a server can announce changes without end.
void Session::Impl::want_walk(Era era) {
  const bool opened = era == Era::stateless ? !stateless_meta_.empty() : handshake_ >= Handshake::answered;
  if (!opened || walk_ || learned(epoch_) || server_gone_ || server_input_closed_) {
    return;
  }
  if (held_.empty() && walked_at_ && now_ - *walked_at_ < kServerWalkMs) {
    walk_due_ = *walked_at_ + kServerWalkMs;
    return;
  }
  walk_due_.reset();
  start_walk(era);
}

// A server may do one thing at a time: while it works on a call of the client, its silence says nothing.
bool Session::Impl::server_is_busy() const {
  return std::ranges::any_of(outstanding_, [](const auto& entry) { return entry.second.method == "tools/call"; });
}

void Session::Impl::start_walk(Era era) {
  walk_.emplace(Walk{ListWalk(config_.policy.catalog), epoch_, now_ + kLearnTimeoutMs, now_ + kMaxLearnMs});
  walk_->era = era;
  walk_->meta = era == Era::stateless ? stateless_meta_ : std::string();
  relist_at_ = era == Era::handshake ? std::optional(now_ + kRelistMs) : std::nullopt;
  const auto ask = [&](Own kind, std::string_view method, const std::string& params) {
    const std::string id = own_id();
    own_.emplace(id, kind);
    walk_->ids.insert(id);
    to_server(wire::request_line(Id(id), method, params));
  };
  if (!opening_ && era == Era::stateless) {
    // The client did not ask who the server is; the pin of its identity is judged all the same.
    walk_->identity_done = false;
    ask(Own::discover, "server/discover", walk_->list.params(walk_->meta));
  }
  if (opening_ && !opening_->features.contains(wire::Feature::tools)) {
    walk_->list_done = true;
    walk_finished();
    return;
  }
  ask(Own::list, "tools/list", walk_->list.params(walk_->meta));
}

void Session::Impl::walk_failed(Error error) {
  if (!walk_) {
    return;
  }
  for (const std::string& id : walk_->ids) {
    own_.erase(id);
  }
  const std::uint64_t epoch = walk_->epoch;
  walk_.reset();
  walked_at_ = now_;
  record(refused_record(Side::server, error.code, error.detail, {}, "tools/list"));
  notice_server(text::cat("the server's tool list could not be learned: ", error.detail));
  // What waited for this walk is refused; what came later gets a walk of its own.
  std::deque<Held> waiting = std::exchange(held_, {});
  for (Held& held : waiting) {
    if (held.epoch > epoch) {
      held_.push_back(std::move(held));
    } else {
      held_bytes_ -= held.bytes;
      refuse_held(held, error);
    }
  }
  if (!held_.empty()) {
    want_walk(held_.front().message.modern() ? Era::stateless : Era::handshake);
  }
}

void Session::Impl::refuse_held(const Held& held, const Error& error) {
  if (held.message.method != "tools/call") {
    refuse_request(held.message, error.code, error.detail);
  } else if (error.code == Errc::timed_out) {
    refuse_call(held.message, Errc::timed_out, "the live list was not learned in time",
                "the server did not show its tool list in time");
  } else {
    refuse_call(held.message, Errc::tool_not_reviewed, "the live list was not learned",
                "the server's tool list could not be learned");
  }
}

void Session::Impl::walk_finished() {
  if (!walk_->list_done || !walk_->identity_done) {
    return;
  }
  live_ = walk_->list.take();
  const std::uint64_t epoch = walk_->epoch;
  const Era era = walk_->era;
  walk_.reset();
  walked_at_ = now_;
  view_epoch_ = epoch;
  judge();
  announce_if_changed();
  release_held();
  if (!learned(epoch_) && (!held_.empty() || announced_)) {
    want_walk(era);
  }
}

void Session::Impl::judge() {
  const catalog::Snapshot* snapshot = config_.snapshot ? &*config_.snapshot : nullptr;
  view_ = CatalogView::judge(config_.policy, snapshot, live_);
  if (std::string body = catalog_record(*view_); body != recorded_catalog_) {
    recorded_catalog_ = body;
    record(std::move(body));
  }
  if (live_.unnamed > 0) {
    notice_once(text::cat(live_.unnamed, " tool definitions without a readable name were left out"));
  }
  note_drift(view_->drift());
}

// Each difference once. When there are too many to remember, that is recorded; nothing is left out in silence.
void Session::Impl::record_drift(const DriftNote& note) {
  constexpr std::size_t kMaxRemembered = 20'000;
  if (recorded_drift_.size() > kMaxRemembered) {
    return;
  }
  std::string body = drift_record(note);
  if (recorded_drift_.size() == kMaxRemembered) {
    body = drift_record({note.item, "", "more", note.action, "further differences are not recorded", ""});
  }
  if (recorded_drift_.insert(body).second) {
    record(std::move(body));
  }
}

void Session::Impl::note_drift(const std::vector<DriftNote>& notes) {
  std::size_t added = 0;
  std::size_t changed = 0;
  std::size_t removed = 0;
  for (const DriftNote& note : notes) {
    record_drift(note);
    added += note.change == "added" ? 1U : 0U;
    changed += note.change == "changed" ? 1U : 0U;
    removed += note.change == "removed" ? 1U : 0U;
  }
  if (added + changed > 0) {
    notice_once(text::cat("the server differs from what was reviewed: ", changed, " changed, ", added, " added, ",
                          removed, " gone; to look at it: mcp-cordon diff ", config_.policy.server));
  }
}

void Session::Impl::learn_identity(const Identity& identity) {
  opening_ = judge_opening(config_.policy, config_.snapshot ? &*config_.snapshot : nullptr, identity);
  // Once blocked, always blocked: a process that shows another face later has shown this one.
  identity_blocked_ = identity_blocked_ || opening_->blocked;
  for (const DriftNote& note : opening_->drift) {
    record_drift(note);
    notice_once(text::cat(note.item, " of the server differs from what was reviewed",
                          note.action == policy::DriftAction::block  ? "; calls are refused"
                          : note.action == policy::DriftAction::flag ? "; the new one is shown"
                                                                     : "; the reviewed one is shown"));
  }
}

// Where drift of the identity blocks, an identity that cannot be learned blocks as well.
void Session::Impl::identity_unknown(std::string_view why) {
  record(refused_record(Side::server, Errc::catalog_invalid, why, {}, "server/discover"));
  const policy::Drift& drift = config_.policy.catalog.drift;
  const auto blocks = [](policy::DriftAction action) { return action == policy::DriftAction::block; };
  if (!opening_ && config_.snapshot && handshake_ == Handshake::none &&
      (blocks(drift.identity) || blocks(drift.instructions) || blocks(drift.capabilities))) {
    identity_blocked_ = true;
  }
}

void Session::Impl::release_held() {
  for (std::size_t i = 0; i < held_.size();) {
    if (!learned(held_[i].epoch)) {
      ++i;
      continue;
    }
    Held held = std::move(held_[i]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    held_bytes_ -= held.bytes;
    if (held.message.method == "tools/call") {
      decide_call(std::move(held.message));
    } else {
      answer_list(held.message);
    }
  }
}

// One answer as long as it fits into a line that clients take, else pages of our own.
void Session::Impl::answer_list(const Message& message) {
  const std::string prefix = text::cat(wire::kOwnIdPrefix, "page/");
  std::size_t first = 0;
  if (const Value cursor = message.params.find("cursor"); cursor && !cursor.is(Kind::null)) {
    const std::string text = cursor.is(Kind::string) ? cursor.string() : std::string();
    const json::Limits limits{.max_bytes = 20, .max_depth = 1};
    auto number = text.starts_with(prefix) ? json::read(text.substr(prefix.size()), limits)
                                           : Result<json::Document>(fail(Errc::message_malformed, ""));
    const auto index = number ? number->root().safe_integer() : std::nullopt;
    if (!index || *index < 0 || static_cast<std::size_t>(*index) > view_->tools().size()) {
      to_client(wire::error_line(*message.id, -32602, "Invalid cursor", Errc::message_malformed));
      return;
    }
    first = static_cast<std::size_t>(*index);
  }
  const std::size_t budget = limits_.max_bytes - std::min<std::size_t>(limits_.max_bytes / 2, 65'536);
  json::Writer w;
  w.begin_object().key("tools").begin_array();
  std::size_t bytes = 0;
  std::size_t i = first;
  for (; i < view_->tools().size(); ++i) {
    const std::string& served = view_->tools()[i].served;
    if (bytes > 0 && bytes + served.size() > budget) {
      break;
    }
    if (!served.empty()) {
      bytes += served.size() + 1;
      w.raw(served);
    }
  }
  w.end_array();
  if (i < view_->tools().size()) {
    w.member("nextCursor", text::cat(prefix, i));
  }
  if (message.modern()) {
    w.member("resultType", "complete").member_int("ttlMs", 0).member("cacheScope", "private");
  }
  w.key("_meta").begin_object();
  if (message.modern() && opening_) {
    w.member_raw(wire::kMetaServerInfo, opening_->server_info);
  }
  w.key("dev.mcp-cordon/catalog").begin_object();
  w.member("annotations", "reviewed").member_bool("pinned", config_.snapshot.has_value()).end_object();
  w.end_object().end_object();
  announced_ = listed_digest();
  to_client(wire::result_line(*message.id, w.take()));
}

std::string Session::Impl::listed_digest() const {
  Sha256 hash;
  for (const ToolView& tool : view_->tools()) {
    if (!tool.served.empty()) {
      hash.update(tool.served);
      hash.update("\n");
    }
  }
  return hex(hash.finish());
}

// list_changed goes to the client where it is legal and only when what it is shown has changed.
void Session::Impl::announce_if_changed() {
  if (!announced_ || *announced_ == listed_digest()) {
    return;
  }
  announced_ = listed_digest();
  if (handshake_ == Handshake::initialized && opening_ && opening_->list_changed) {
    to_client(wire::notification_line("notifications/tools/list_changed", ""));
  }
  for (const auto& [id, request] : outstanding_) {
    if (request.wants_tool_changes) {
      json::Writer w;
      w.begin_object().key("_meta").begin_object().member_raw(wire::kMetaSubscription, id.json());
      w.end_object().end_object();
      to_client(wire::notification_line("notifications/tools/list_changed", w.take()));
    }
  }
}

}  // namespace cordon::gate
