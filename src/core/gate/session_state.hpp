// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state behind Session, private to this folder. The filter model, whole:
//
//   client line ── parse ── refused: answered where an id can be told, else dropped; never forwarded
//     request      in the table of its revision and within the reviewed capabilities, else -32601
//                  lists are answered by us; tools/call, prompts/get, resources/read and what else names an item wait
//                  until the live list of its kind is judged, then are forwarded as they came or refused; the rest is
//                  forwarded as it came, and its id is outstanding until one reply passed
//     notification in the table, else dropped
//   server line ── parse ── refused: an outstanding id gets an error reply, all else is a stray line or dropped
//     reply        only to an outstanding id, once; to one of our own requests: consumed
//     request      answered by us: ping is passed on, elicitation declined, sampling, roots and the rest refused
//     notification in the table, within the capabilities, about something outstanding, else dropped
//
// Our own request ids begin with wire::kOwnIdPrefix, which the client may not use.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/gate/catalog_view.hpp"
#include "core/gate/handshake.hpp"
#include "core/gate/item_view.hpp"
#include "core/gate/limits.hpp"
#include "core/gate/list_walk.hpp"
#include "core/gate/reviewed_schemas.hpp"
#include "core/gate/session.hpp"
#include "core/gate/variable_view.hpp"
#include "core/wire/line_reader.hpp"
#include "core/wire/message.hpp"
#include "core/wire/methods.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {

// Milliseconds. Clients give 2 s after they close our stdin; see the threat model for why nothing waits for ever.
inline constexpr std::int64_t kLearnTimeoutMs = 20'000;
inline constexpr std::int64_t kMaxLearnMs = 300'000;  // while a call of the client keeps the server busy
inline constexpr std::int64_t kServerWalkMs = 200;    // least distance of walks that the server causes
inline constexpr std::int64_t kRelistMs = 300'000;
inline constexpr std::int64_t kDrainMs = 900;
inline constexpr std::int64_t kTerminateAfterEofMs = 1'300;
inline constexpr std::int64_t kKillAfterEofMs = 1'600;
inline constexpr std::int64_t kKillAfterTermMs = 500;
inline constexpr std::int64_t kFailedLaunchMs = 10'000;
inline constexpr std::size_t kRememberedCancelled = 256;

class Session::Impl {
 public:
  explicit Impl(SessionConfig config);

  Actions feed(Side from, std::string_view bytes, Instant now);
  Actions end(Side from, Instant now);
  Actions exited(ExitReport report, Instant now);
  Actions terminate(Instant now);
  Actions audit_failed(Instant now);
  Actions tick(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  using Message = wire::Message;
  using Id = wire::Id;

  // A client's request that the server has to answer.
  struct Outstanding {
    std::string method = {};
    std::string tool = {};
    wire::Era era = wire::Era::handshake;
    bool flagged = false;                        // the result is marked
    std::set<wire::Feature> wants_changes = {};  // subscriptions/listen: of which lists
    std::set<std::string> watched = {};          // the same: of which resources
    std::string interface_digest = {};           // resources/read: what the content must be
    bool acknowledged = false;                   // of a subscription: told once
    bool ended = false;                          // of a subscription: its end was told once
    std::optional<Id> progress_token = {};
    RuleIndexes limits = {};  // of a call: the rules whose limits it counts for
    std::optional<std::int64_t> answer_ms = {};
    std::optional<Instant> answer_by = {};
  };
  enum class Own : std::uint8_t { list, discover };
  struct OwnRequest {
    Own own = Own::list;
    catalog::ListKind kind = catalog::ListKind::tools;
  };
  struct Held {
    Message message = {};
    catalog::ListKind kind = catalog::ListKind::tools;
    std::uint64_t epoch = 0;  // released by a walk that began at this epoch or later
    Instant deadline = {};
    Instant last_deadline = {};
    std::size_t bytes = 0;
  };
  struct Walk {
    ListWalk list;
    std::uint64_t epoch = 0;
    Instant deadline = {};
    Instant last_deadline = {};
    bool list_done = false;
    bool identity_done = true;
    std::set<std::string> ids = {};  // own requests in flight
    wire::Era era = wire::Era::handshake;
    std::string meta = {};  // _meta of own requests, stateless era
  };
  // What is known of one live list.
  struct Learning {
    catalog::ListKind kind = catalog::ListKind::tools;
    std::uint64_t epoch = 1;      // grows with every wish for a new look at the live list
    std::uint64_t use_epoch = 1;  // what calls and reads wait for: the epoch of the latest list_changed
    std::uint64_t view_epoch = 0;
    LiveList live = {};  // of the latest complete walk
    std::optional<Walk> walk = {};
    std::optional<Instant> relist_at = {};
    std::optional<Instant> walked_at = {};      // when the latest walk ended
    std::optional<Instant> walk_due = {};       // of a walk that the server caused and that may wait
    std::string recorded = {};                  // the latest `catalog` record
    std::optional<std::string> announced = {};  // digest of the list that the client last got
  };
  enum class Handshake : std::uint8_t { none, asked, answered, initialized };

  // session.cpp
  Actions take();
  void on_line(Side from, wire::LineEvent event);
  void on_text(Side from, std::string line);
  void to_client(std::string line) { actions_.emplace_back(ToClient{std::move(line)}); }
  void to_server(std::string line) { actions_.emplace_back(ToServer{std::move(line)}); }
  void record(std::string body) { actions_.emplace_back(Record{std::move(body)}); }
  void notice(std::string text) { actions_.emplace_back(Notice{std::move(text)}); }
  // Each text once. What a server can vary has a small budget of its own, so that it cannot use up ours.
  void notice_once(std::string text);
  void notice_server(std::string text);
  void stop(int status);

  // from_client.cpp
  void on_client_refused(wire::Refused refused);
  void on_client_overlong(const wire::OverlongLine& line);
  void on_client_message(Message message);
  bool keep_early(Message& message);
  void replay_early();
  void on_client_request(Message message);
  void on_client_notification(Message message);
  void on_client_reply(Message message);
  void on_initialize(Message message);
  std::optional<wire::Revision> admit_era(const Message& message);
  bool offered(wire::Revision revision, const Message& message) const;
  void remember_stateless_meta(const Message& message);
  void on_list(Message message, catalog::ListKind kind);
  void on_cancelled(Message message);
  void forward_request(Message message, Outstanding outstanding);
  std::string client_line(Message message);
  bool id_in_use(const Id& id) const;
  bool admit_id(const Message& message);
  void refuse_request(const Message& message, Errc code, std::string detail);

  // calls.cpp
  void on_call(Message message);
  void decide_call(Message message);
  void refuse_by_policy(const Message& message, std::string_view name, const policy::Verdict& verdict);
  void refuse_call(const Message& message, Errc code, std::string because, std::string detail);
  void record_call(const Message& message, std::string_view decision, std::optional<Errc> reason,
                   std::string_view because, const ToolView* tool);

  // call_conditions.cpp
  void make_schemas_ready();
  bool refuse_by_schema(const Message& message, const ToolView& tool);
  bool admit_by_limits(const Message& message, Outstanding& outstanding);
  void set_answer_deadline(Outstanding& request) const;
  void tick_answers();
  std::optional<Instant> next_answer_deadline() const;

  // answers.cpp
  bool refuse_answer(const Message& message, const Outstanding& request);
  std::string treated_line(Message message, std::string_view what, bool flagged);

  // items.cpp
  void on_prompt(Message message);
  void on_resource(Message message);
  void on_completion(Message message);
  void on_listen(Message message);
  void decide_held(Message message, catalog::ListKind kind);
  struct ItemRefusal {
    Errc code = Errc::tool_not_reviewed;
    std::string because = {};  // for audit
    std::string detail = {};   // for the client
  };
  struct ItemJudgement {
    std::optional<catalog::ListKind> missing = {};  // this list has to be learned first
    std::optional<ItemRefusal> refusal = {};
    std::string because = {};
    bool flagged = false;
    std::string interface_of = {};  // of a `ui://` resource: the tool, and what the content must be
    std::string interface_digest = {};
  };
  std::optional<ItemRefusal> judge_item(std::optional<Errc> refusal, const policy::Verdict& verdict) const;
  ItemJudgement judge_prompt(const std::string& name) const;
  ItemJudgement judge_resource(const std::string& uri) const;
  ItemJudgement judge_interface(const std::string& uri) const;
  void settle_item(Message message, catalog::ListKind kind, const std::string& key, const ItemJudgement& judgement);
  void refuse_item(const Message& message, catalog::ListKind kind, std::string_view key, const ItemRefusal& refusal);
  void pass_item(Message message, catalog::ListKind kind, std::string_view key, const ItemJudgement& judgement);
  void record_item(const Message& message, catalog::ListKind kind, std::string_view key, std::string_view decision,
                   std::optional<Errc> reason, std::string_view because);
  bool is_watched(std::string_view uri) const;

  // from_server.cpp
  void on_server_refused(wire::Refused refused);
  void on_server_overlong(const wire::OverlongLine& line);
  void on_server_message(Message message);
  void on_server_request(Message message);
  void on_server_notification(Message message);
  std::string_view unasked(const Message& message);
  void on_list_changed(std::string_view method, wire::Era era);
  void on_server_reply(Message message);
  void on_call_reply(Message message, const Outstanding& call);
  void on_initialize_reply(Message message);
  void on_discover_reply(Message message, bool own);
  void on_own_reply(Message message);
  void pass_reply(Message message, const Outstanding& request);
  void fail_reply(const Id& id, const Outstanding& request, Errc code, std::string_view detail);
  void fail_all_outstanding(Errc code, std::string_view detail);
  void forget_token(const Outstanding& request);

  // learning.cpp
  Learning& list(catalog::ListKind kind) { return lists_.at(static_cast<std::size_t>(kind)); }
  const Learning& list(catalog::ListKind kind) const { return lists_.at(static_cast<std::size_t>(kind)); }
  const std::optional<ItemListView>& items(catalog::ListKind kind) const {
    return items_.at(static_cast<std::size_t>(kind));
  }
  bool learned(catalog::ListKind kind, std::uint64_t epoch) const;
  bool usable(catalog::ListKind kind) const { return learned(kind, list(kind).use_epoch); }
  void hold(Message message, catalog::ListKind kind);
  void want_walk(catalog::ListKind kind, wire::Era era);
  void want_other_walks(wire::Era era);
  void start_walk(Learning& list, wire::Era era);
  void continue_walk(Learning& list);
  void walk_failed(catalog::ListKind kind, Error error);
  void own_request_failed(const Id& id, Errc code, std::string_view what);
  void walks_failed(const Error& error);
  void walk_finished(Learning& list);
  void release_held();
  void answer_list(const Message& message, catalog::ListKind kind);
  std::vector<const std::string*> served(catalog::ListKind kind) const;
  void announce_if_changed(const Learning& list);
  std::string listed_digest(catalog::ListKind kind) const;
  void note_drift(const std::vector<DriftNote>& notes);
  void record_drift(const DriftNote& note);
  bool server_is_busy() const;
  void refuse_held(const Held& held, const Error& error);
  void learn_identity(Identity identity);
  void identity_unknown(std::string_view why);
  void judge(Learning& list);
  std::string own_id();

  // ending.cpp
  void tick_lists();
  void client_ended();
  void close_server_input();
  void signal(SignalServer::Kind kind);
  void drained();
  void fail_everything(Errc code, std::string_view detail);

  SessionConfig config_;
  json::Limits limits_;
  Instant now_ = {};
  Actions actions_;
  bool stopped_ = false;
  wire::LineReader client_lines_;
  wire::LineReader server_lines_;

  Handshake handshake_ = Handshake::none;
  wire::Revision revision_ = wire::Revision::v2025_11_25;
  bool initialize_asked_ = false;
  bool stateless_seen_ = false;
  std::string stateless_meta_;            // _meta for our own requests, from the client's latest one
  std::optional<Variables> variables_;    // when the snapshot has places for them
  std::optional<JudgedOpening> opening_;  // once the server has been heard
  std::map<Id, Outstanding> outstanding_;
  std::multiset<Id> progress_tokens_;
  std::deque<Id> cancelled_;         // answers to these are dropped
  std::map<Id, bool> server_pings_;  // requests of the server that the client has to answer; true: cancelled

  std::map<std::string, OwnRequest> own_;  // our requests to the server
  std::uint64_t own_count_ = 0;
  std::array<Learning, catalog::kListKinds.size()> lists_;
  std::optional<CatalogView> view_;                                            // of the tools
  std::array<std::optional<ItemListView>, catalog::kListKinds.size()> items_;  // of the rest
  ReviewedSchemas schemas_;
  CallLimits limits_of_calls_;
  std::set<std::string> subscribed_;  // resources, in the handshake era
  std::set<std::string> recorded_drift_;
  bool identity_blocked_ = false;  // sticky: calls are refused for the rest of the process
  std::deque<Message> early_;      // what a client that does not wait for its handshake sent after `initialize`
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  std::set<std::string> noticed_;
  std::set<std::string> noticed_of_server_;

  bool client_ended_ = false;
  bool server_input_closed_ = false;
  bool server_gone_ = false;
  bool terminate_sent_ = false;
  bool kill_sent_ = false;
  std::optional<Instant> drain_until_;
  std::optional<Instant> terminate_at_;
  std::optional<Instant> kill_at_;
  std::optional<Instant> give_up_at_;  // of a failed launch
};

}  // namespace cordon::gate
