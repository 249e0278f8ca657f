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

using catalog::ListKind;
using json::Kind;
using json::Value;
using wire::Era;

namespace {

wire::Feature feature_of(ListKind kind) {
  return kind == ListKind::tools     ? wire::Feature::tools
         : kind == ListKind::prompts ? wire::Feature::prompts
                                     : wire::Feature::resources;
}

}  // namespace

bool Session::Impl::learned(ListKind kind, std::uint64_t epoch) const {
  const bool viewed = kind == ListKind::tools ? view_.has_value() : items(kind).has_value();
  return viewed && list(kind).view_epoch >= epoch;
}

void Session::Impl::hold(Message message, ListKind kind) {
  const Era era = message.modern() ? Era::stateless : Era::handshake;
  const std::size_t bytes = message.document.text().size();
  if (held_bytes_ + bytes > limits_.max_bytes) {
    refuse_request(message, Errc::rate_limited,
                   text::cat("too much waits for the server's ", catalog::names(kind).text, " list already"));
    return;
  }
  held_bytes_ += bytes;
  const bool lists = message.method == catalog::names(kind).method;
  const std::uint64_t epoch = lists ? list(kind).epoch : list(kind).use_epoch;
  held_.push_back({std::move(message), kind, epoch, now_ + kLearnTimeoutMs, now_ + kMaxLearnMs, bytes});
  want_walk(kind, era);
  release_held();
}

// A walk in flight that began before the latest change is followed by another one; see walk_finished(). What nobody
// waits for is done at a measured pace, since a server can announce changes without end.
void Session::Impl::want_walk(ListKind kind, Era era) {
  Learning& list = this->list(kind);
  const bool opened = era == Era::stateless ? !stateless_meta_.empty() : handshake_ >= Handshake::answered;
  if (!opened || list.walk || learned(kind, list.epoch) || server_gone_ || server_input_closed_) {
    return;
  }
  const bool awaited = std::ranges::any_of(held_, [&](const Held& held) { return held.kind == kind; });
  if (!awaited && list.walked_at && now_ - *list.walked_at < kServerWalkMs) {
    list.walk_due = *list.walked_at + kServerWalkMs;
    return;
  }
  list.walk_due.reset();
  start_walk(list, era);
}

// Once the tools are known, the rest of the catalog is looked at without being asked, so that drift shows.
void Session::Impl::want_other_walks(Era era) {
  for (const ListKind kind : catalog::kItemKinds) {
    const wire::Feature feature = feature_of(kind);
    if (opening_ && opening_->features.contains(feature) && list(kind).view_epoch == 0 && !list(kind).walked_at) {
      want_walk(kind, era);
    }
  }
}

// A server may do one thing at a time: while it works on something for the client, its silence says nothing.
bool Session::Impl::server_is_busy() const {
  return std::ranges::any_of(outstanding_, [](const auto& entry) {
    const std::string& method = entry.second.method;
    return method == "tools/call" || method == "prompts/get" || method == "resources/read";
  });
}

void Session::Impl::start_walk(Learning& list, Era era) {
  list.walk.emplace(
      Walk{ListWalk(list.kind, config_.policy.catalog), list.epoch, now_ + kLearnTimeoutMs, now_ + kMaxLearnMs});
  Walk& walk = *list.walk;
  walk.era = era;
  walk.meta = era == Era::stateless ? stateless_meta_ : std::string();
  list.relist_at = era == Era::handshake ? std::optional(now_ + kRelistMs) : std::nullopt;
  if (!opening_ && era == Era::stateless) {
    // The client did not ask who the server is; the pin of its identity is judged all the same.
    walk.identity_done = false;
    const std::string id = own_id();
    own_.emplace(id, OwnRequest{Own::discover, list.kind});
    walk.ids.insert(id);
    to_server(wire::request_line(Id(id), "server/discover", walk.list.params(walk.meta)));
  }
  if (const wire::Feature feature = feature_of(list.kind); opening_ && !opening_->features.contains(feature)) {
    walk.list_done = true;
    walk_finished(list);
    return;
  }
  continue_walk(list);
}

// Asks for the next page.
void Session::Impl::continue_walk(Learning& list) {
  const std::string id = own_id();
  own_.emplace(id, OwnRequest{Own::list, list.kind});
  list.walk->ids.insert(id);
  to_server(wire::request_line(Id(id), catalog::names(list.kind).method, list.walk->list.params(list.walk->meta)));
}

void Session::Impl::own_request_failed(const Id& id, Errc code, std::string_view what) {
  if (const auto own = own_.find(std::string(id.text())); own != own_.end()) {
    const ListKind kind = own->second.kind;
    walk_failed(kind, {code, text::cat("the answer to ", catalog::names(kind).method, ' ', what), {}, {}});
  }
}

void Session::Impl::walks_failed(const Error& error) {
  for (const ListKind kind : catalog::kListKinds) {
    walk_failed(kind, error);
  }
}

void Session::Impl::walk_failed(ListKind kind, Error error) {
  Learning& list = this->list(kind);
  if (!list.walk) {
    return;
  }
  for (const std::string& id : list.walk->ids) {
    own_.erase(id);
  }
  const std::uint64_t epoch = list.walk->epoch;
  list.walk.reset();
  list.walked_at = now_;
  const catalog::ListNames& named = catalog::names(kind);
  record(refused_record(Side::server, error.code, error.detail, {}, named.method));
  notice_server(text::cat("the server's ", named.text, " list could not be learned: ", error.detail));
  // What waited for this walk is refused; what came later gets a walk of its own.
  std::deque<Held> waiting = std::exchange(held_, {});
  std::optional<Era> again;
  for (Held& held : waiting) {
    if (held.kind != kind || held.epoch > epoch) {
      if (held.kind == kind) {
        again = held.message.modern() ? Era::stateless : Era::handshake;
      }
      held_.push_back(std::move(held));
    } else {
      held_bytes_ -= held.bytes;
      refuse_held(held, error);
    }
  }
  if (again) {
    want_walk(kind, *again);
  }
}

void Session::Impl::refuse_held(const Held& held, const Error& error) {
  const std::string_view list = catalog::names(held.kind).text;
  if (held.message.method != "tools/call") {
    refuse_request(held.message, error.code, error.detail);
  } else if (error.code == Errc::timed_out) {
    refuse_call(held.message, Errc::timed_out, "the live list was not learned in time",
                text::cat("the server did not show its ", list, " list in time"));
  } else {
    refuse_call(held.message, Errc::tool_not_reviewed, "the live list was not learned",
                text::cat("the server's ", list, " list could not be learned"));
  }
}

void Session::Impl::walk_finished(Learning& list) {
  if (!list.walk->list_done || !list.walk->identity_done) {
    return;
  }
  list.live = list.walk->list.take();
  const std::uint64_t epoch = list.walk->epoch;
  const Era era = list.walk->era;
  list.walk.reset();
  list.walked_at = now_;
  list.view_epoch = epoch;
  judge(list);
  announce_if_changed(list);
  release_held();
  const bool awaited = std::ranges::any_of(held_, [&](const Held& held) { return held.kind == list.kind; });
  if (!learned(list.kind, list.epoch) && (awaited || list.announced)) {
    want_walk(list.kind, era);
  }
  if (list.kind == ListKind::tools) {
    want_other_walks(era);
  }
}

void Session::Impl::judge(Learning& list) {
  const catalog::Snapshot* snapshot = config_.snapshot ? &*config_.snapshot : nullptr;
  if (variables_) {
    variables_->settle(list.kind, list.live);
  }
  if (list.kind == ListKind::tools) {
    view_ = CatalogView::judge(config_.policy, snapshot, list.live);
  } else {
    items_.at(static_cast<std::size_t>(list.kind)) =
        ItemListView::judge(list.kind, config_.policy, snapshot, list.live);
  }
  std::string body = list.kind == ListKind::tools ? catalog_record(*view_) : list_record(*items(list.kind), list.kind);
  if (body != list.recorded) {
    list.recorded = body;
    record(std::move(body));
  }
  if (list.live.unnamed > 0) {
    notice_once(text::cat(list.live.unnamed, ' ', catalog::names(list.kind).text,
                          " definitions without a readable name were left out"));
  }
  note_drift(list.kind == ListKind::tools ? view_->drift() : items(list.kind)->drift());
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
                          removed, " gone; to look at it: mcp-cordon diff ", config_.spelled));
  }
}

void Session::Impl::learn_identity(Identity identity) {
  if (variables_) {
    variables_->settle(identity);
  }
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
    if (!learned(held_[i].kind, held_[i].epoch)) {
      ++i;
      continue;
    }
    Held held = std::move(held_[i]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    held_bytes_ -= held.bytes;
    decide_held(std::move(held.message), held.kind);
    i = 0;  // it may wait again, for another list
  }
}

// What the client is shown of a list, in the server's order.
std::vector<const std::string*> Session::Impl::served(ListKind kind) const {
  std::vector<const std::string*> out;
  const auto add = [&](const auto& views) {
    for (const auto& view : views) {
      out.push_back(&view.served);
    }
  };
  if (kind == ListKind::tools) {
    add(view_->tools());
  } else {
    add(items(kind)->items());
  }
  return out;
}

// One answer as long as it fits into a line that clients take, else pages of our own.
void Session::Impl::answer_list(const Message& message, ListKind kind) {
  const std::vector<const std::string*> all = served(kind);
  const std::string prefix = text::cat(wire::kOwnIdPrefix, "page/");
  std::size_t first = 0;
  if (const Value cursor = message.params.find("cursor"); cursor && !cursor.is(Kind::null)) {
    const std::string text = cursor.is(Kind::string) ? cursor.string() : std::string();
    const json::Limits limits{.max_bytes = 20, .max_depth = 1};
    auto number = text.starts_with(prefix) ? json::read(text.substr(prefix.size()), limits)
                                           : Result<json::Document>(fail(Errc::message_malformed, ""));
    const auto index = number ? number->root().safe_integer() : std::nullopt;
    if (!index || *index < 0 || static_cast<std::size_t>(*index) > all.size()) {
      to_client(wire::error_line(*message.id, -32602, "Invalid cursor", Errc::message_malformed));
      return;
    }
    first = static_cast<std::size_t>(*index);
  }
  const std::size_t budget = limits_.max_bytes - std::min<std::size_t>(limits_.max_bytes / 2, 65'536);
  json::Writer w;
  w.begin_object().key(catalog::names(kind).member).begin_array();
  std::size_t bytes = 0;
  std::size_t i = first;
  for (; i < all.size(); ++i) {
    const std::string& one = *all[i];
    if (bytes > 0 && bytes + one.size() > budget) {
      break;
    }
    if (!one.empty()) {
      bytes += one.size() + 1;
      w.raw(one);
    }
  }
  w.end_array();
  if (i < all.size()) {
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
  if (kind == ListKind::tools) {
    const bool reviewed = config_.policy.tools.annotations == policy::Annotations::reviewed;
    w.member("annotations", reviewed ? "reviewed" : "server");
  }
  w.member_bool("pinned", config_.snapshot.has_value()).end_object();
  w.end_object().end_object();
  list(kind).announced = listed_digest(kind);
  to_client(wire::result_line(*message.id, w.take()));
}

std::string Session::Impl::listed_digest(ListKind kind) const {
  Sha256 hash;
  for (const std::string* one : served(kind)) {
    if (!one->empty()) {
      hash.update(*one);
      hash.update("\n");
    }
  }
  return hex(hash.finish());
}

// list_changed goes to the client where it is legal and only when what it is shown has changed.
void Session::Impl::announce_if_changed(const Learning& changed) {
  Learning& list = this->list(changed.kind);
  if (!list.announced || *list.announced == listed_digest(list.kind)) {
    return;
  }
  list.announced = listed_digest(list.kind);
  const wire::Feature feature = feature_of(list.kind);
  const std::string_view method = feature == wire::Feature::tools     ? "notifications/tools/list_changed"
                                  : feature == wire::Feature::prompts ? "notifications/prompts/list_changed"
                                                                      : "notifications/resources/list_changed";
  if (handshake_ == Handshake::initialized && opening_ && opening_->list_changed.contains(feature)) {
    to_client(wire::notification_line(method, ""));
  }
  for (const auto& [id, request] : outstanding_) {
    if (request.wants_changes.contains(feature)) {
      json::Writer w;
      w.begin_object().key("_meta").begin_object().member_raw(wire::kMetaSubscription, id.json());
      w.end_object().end_object();
      to_client(wire::notification_line(method, w.take()));
    }
  }
}

}  // namespace cordon::gate
