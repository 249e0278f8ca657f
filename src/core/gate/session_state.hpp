// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state behind Session, private to this folder. The filter model, whole:
//
//   client line ── parse ── refused: answered where an id can be told, else dropped; never forwarded
//     request      in the table of its revision and within the reviewed capabilities, else -32601
//                  lists are answered by us; tools/call, prompts/get, resources/read and what else names an item wait
//                  until the live list of its kind is judged, then are forwarded as they came or refused; the rest is
//                  forwarded as it came, and its id is outstanding until one reply passed
//                  tasks/* are forwarded for ids that a call of this session became, as far as the table of tasks knows
//     notification in the table, else dropped
//   server line ── parse ── refused: an outstanding id gets an error reply, all else is a stray line or dropped
//     reply        only to an outstanding id, once; to one of our own requests: consumed
//     request      judged by client_requests; what passes goes to the client under an id of ours and is answered once
//     result       that is a task instead: kept under the id of the task; what the task brings later, as the result
//     result       that asks the client instead (input_required, -32042): each question is judged, the rest as a reply
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
#include "core/gate/confirm_form.hpp"
#include "core/gate/confirmation.hpp"
#include "core/gate/handshake.hpp"
#include "core/gate/item_view.hpp"
#include "core/gate/limits.hpp"
#include "core/gate/list_walk.hpp"
#include "core/gate/open_questions.hpp"
#include "core/gate/questions.hpp"
#include "core/gate/reviewed_schemas.hpp"
#include "core/gate/secret_finder.hpp"
#include "core/gate/session.hpp"
#include "core/gate/session_parts.hpp"
#include "core/gate/task_table.hpp"
#include "core/gate/variable_view.hpp"
#include "core/policy/judge_call.hpp"
#include "core/wire/line_reader.hpp"
#include "core/wire/message.hpp"
#include "core/wire/methods.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {

class Session::Impl {
 public:
  explicit Impl(SessionConfig config);

  Actions feed(Side from, std::string_view bytes, Instant now);
  Actions end(Side from, Instant now);
  Actions exited(ExitReport report, Instant now);
  Actions respawned(const Status& how, Instant now);
  Actions terminate(Instant now);
  Actions audit_failed(Instant now);
  Actions approval(std::string_view line, Instant now);
  Actions tick(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  using Message = wire::Message;
  using Id = wire::Id;
  using Value = json::Value;

  using Outstanding = parts::Outstanding;
  using Own = parts::Own;
  using OwnRequest = parts::OwnRequest;
  using Held = parts::Held;
  using Walk = parts::Walk;
  using Way = parts::Way;
  using Asked = parts::Asked;
  using Word = parts::Word;
  using Reservation = parts::Reservation;
  using Abandoned = parts::Abandoned;
  using Learning = parts::Learning;
  enum class Handshake : std::uint8_t { none, asked, answered, initialized };

  // session.cpp
  Actions take();
  void on_line(Side from, wire::LineEvent event);
  void on_text(Side from, std::string line);
  void to_client(std::string line) { actions_.emplace_back(ToClient{std::move(line)}); }
  void to_server(std::string line) {
    ++lines_sent_;
    actions_.emplace_back(ToServer{std::move(line)});
  }
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
  bool drop_early(const Message& cancellation);
  void replay_early();
  void on_client_request(Message message);
  void dispatch_request(Message message);
  void on_client_notification(Message message);
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
  // call_judgement.cpp
  policy::CallJudgement judge_call(const ToolView& tool, const json::Value& arguments) const;
  void pass_call(Message message, const ToolView& tool, const policy::CallJudgement& judged);
  bool is_read_only() const { return config_.read_only || config_.policy.tools.read_only; }
  void refuse_arguments(const Message& message, std::string_view name, const policy::CallJudgement& judged);

  std::string explain_hint(std::string_view tool) const;
  void refuse_by_policy(const Message& message, std::string_view name, const policy::Verdict& verdict,
                        policy::Effect effect);
  // `effect`: of this call, where that is known; else that of its tool is written down.
  void refuse_call(const Message& message, Errc code, std::string because, std::string detail,
                   std::optional<policy::Effect> effect = {});
  std::string argument_digest(const Value& arguments) const;
  void record_call(const Message& message, std::string_view decision, std::optional<Errc> reason,
                   std::string_view because, const ToolView* tool, std::optional<policy::Effect> effect = {});

  // confirm_calls.cpp: may a call that wants a person's word pass?
  bool take_word(Message& message);
  static std::string_view outcome_of(Choice choice);
  void note_choice(const ConfirmSubject& subject, Choice choice);
  bool confirmed(Message& message, const ToolView& tool, const policy::CallJudgement& judged, policy::Effect effect);
  ConfirmSubject subject_of(const Message& message, const ToolView& tool, const policy::Verdict& verdict,
                            policy::Effect effect) const;
  void ask(Message message, const ToolView& tool, ConfirmSubject subject, const RuleIndexes& limits,
           policy::Effect effect);
  void ask_form(Asked asked, std::string_view text);
  void ask_in_result(const Asked& asked, std::string_view text);
  void ask_elsewhere(Asked asked, std::string_view text);
  // For the result of a confirmed call in which the server asks something: what stands as `requestState` in place of
  // the server's (absent, or a string), as JSON. Nothing when that cannot be carried. For whoever passes such results.
  std::optional<std::string> state_for_client(const Outstanding& request, const Value& server_state);
  bool can_ask_in_client(const Message& message) const;
  void record_question(const Message& message, std::string_view via, std::string_view outcome, policy::Effect effect);
  // confirm_answers.cpp: what becomes of a question
  bool on_form_answer(const Message& reply);
  bool form_failed(const Id& id, std::string_view why);
  void settle(Asked asked, Choice choice);
  void drop_questions_like(const ConfirmSubject& subject);
  void end_question(const Asked& asked, std::string_view outcome);
  Asked take_asked(std::map<Id, Asked>::iterator place);
  bool cancel_asked(const Id& id);
  void refuse_asked(Errc code, std::string_view outcome, std::string_view detail);
  void tick_asked();
  void tell_progress(Asked& asked);
  void publish();

  // call_conditions.cpp
  void make_schemas_ready();
  bool refuse_by_schema(const Message& message, const ToolView& tool);
  CallLimits::Load load() const;
  bool admit_by_limits(const Message& message, const Outstanding& outstanding);
  void reserve(std::string holder, RuleIndexes limits, Instant until);
  static std::string holder_of(const Id& id);
  bool has_place(const Id& id) const;
  void give_up_place(const Id& id);
  void hand_over_reservation(const std::string& nonce, const Id& id);
  void abandon(const Id& id, const Outstanding& request);
  void answered_late(const Message& message);
  void set_answer_deadline(Outstanding& request);
  void watch_clocks();
  std::optional<Instant> answer_due(const Outstanding& request) const;
  void tick_answers();
  std::optional<Instant> next_answer_deadline() const;

  // answers.cpp
  bool refuse_answer(const Message& message, const Outstanding& request);
  bool refuse_by_size(const Message& message, const Outstanding& request);
  void withhold_answer(const Message& message, const Outstanding& request, const Error& why);
  std::string treated_line(json::Document message, const std::optional<Id>& id, std::string_view what, bool flagged);

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
  void on_server_notification(Message message);
  std::string_view unasked(const Message& message);
  void on_list_changed(std::string_view method, wire::Era era);
  void on_server_reply(Message message);
  void on_call_reply(Message message, const Outstanding& call);
  void on_initialize_reply(Message message);
  void on_discover_reply(Message message, bool own);
  void on_own_reply(Message message);
  void overhear(const Value& result);
  Message without_ours(Message message);
  void pass_reply(Message message, const Outstanding& request);
  void fail_reply(const Id& id, const Outstanding& request, Errc code, std::string_view detail);
  void fail_all_outstanding(Errc code, std::string_view detail);
  void forget_token(const Outstanding& request);

  // client_requests.cpp
  QuestionContext question_context(wire::Revision revision, const ClientOffers& offers) const;
  void note_question(std::string_view id, std::string_view method, const JudgedQuestion& judged,
                     std::string_view within);
  bool admit_question(std::string_view method);
  void refuse_question(const Id& server_id, std::string_view method, Errc code, std::string_view detail);
  void on_server_request(Message message);
  void ask_client(const Message& message, const std::string& params);
  void on_client_reply(Message message);
  void fail_questions(const std::optional<Id>& id, Errc code, std::string_view detail);
  void tick_open_questions();
  std::optional<Instant> question_deadline() const;
  bool on_question_notification(const Message& message);
  bool on_answering_notification(Message& message);

  // input_required.cpp
  static bool asks_client(const Message& reply);
  void withhold_question(const Message& message, const Outstanding& request, Errc code, std::string_view because);
  void on_asking_reply(Message message, const Outstanding& request);
  void retry_ourselves(const Message& message, const Outstanding& request, const AskedResult& asked);
  void pass_asking(const Message& message, const Outstanding& request, AskedResult asked, const std::string& passed);
  void on_address_required(Message message, const Outstanding& request);
  bool admit_answers(Message& message);
  void remember_line(const Message& message, Outstanding& outstanding) const;

  // tasks_of_client.cpp
  bool declares_tasks(const Message& message) const;
  bool tasks_offered(wire::Revision revision, std::string_view method) const;
  bool refuse_as_task(const Message& message, const ToolView& tool);
  void on_task(Message message);
  void refuse_task(const Message& message);
  bool admit_task_answers(const Message& message, Task& task, Outstanding& outstanding);
  bool task_extension() const { return opening_ ? opening_->task_extension : extension_reviewed_; }
  bool names_unknown_task(const Value& meta) const;

  // tasks_of_server.cpp
  static bool is_new_task(const Value& result);
  Status check_new_task(const Message& message, const Outstanding& request);
  void on_new_task(Message message, const Outstanding& request);
  void on_task_reply(Message message, const Outstanding& request);
  Status write_task_answer(json::Writer& w, const Message& message, const Outstanding& request,
                           std::vector<std::string>& answered);
  void on_task_error(Message message, const Outstanding& request);
  void on_task_payload(Message message, const Outstanding& request);
  void on_task_list(const Message& message, const Outstanding& request);
  void on_task_notification(const Message& message);
  void note_task(const std::string& id, Task& task, const Value& object);
  // tasks_in_full.cpp: a task of the stateless era with what it brought or asks
  Status write_task_in_full(json::Writer& w, const std::string& id, Task& task, const Value& object,
                            const ClientOffers& offers, std::vector<std::string>& answered);
  std::string task_payload(const Task& task, const Value& object);
  struct AskedInTask {
    std::string key = {};
    std::string method = {};
    JudgedQuestion judged = {};
    TaskQuestion question = {};
  };
  Result<std::optional<AskedInTask>> judge_task_question(const Task& task, const json::Member& member,
                                                         const QuestionContext& context);
  Status write_task_questions(json::Writer& w, const std::string& id, Task& task, const Value& object,
                              const ClientOffers& offers, std::vector<std::string>& answered);
  void tell_task(std::string_view method, const std::string& id, std::string_view answers, wire::Era era);
  void cancel_task(const std::string& id, wire::Era era);

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

  // respawn.cpp
  bool only_probed() const;
  bool ended_by_probe() const;
  void settle_spare();
  void drop_spare();
  void answer_probes();
  void outlive_probe();
  void expect_no_server();
  bool respawn(const ExitReport& report);
  void fail_everything(Errc code, std::string_view detail);

  SessionConfig config_;
  Mac argument_mac_{config_.argument_key};
  policy::CallJudge call_judge_;
  SecretFinder secret_finder_{config_.secrets};
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
  std::deque<Id> cancelled_;  // answers to these are dropped
  TaskTable tasks_;
  bool extension_reviewed_ = false;     // tasks of the stateless era, as far as the snapshot tells
  std::deque<std::string> told_tasks_;  // our own requests about tasks, whose answers are dropped
  OpenQuestions questions_;             // of the server, that the client has to answer
  ClientOffers offers_;                 // handshake era: what the client can be asked

  std::map<std::string, OwnRequest> own_;  // our requests to the server
  std::uint64_t own_count_ = 0;
  std::array<Learning, catalog::kListKinds.size()> lists_;
  std::optional<CatalogView> view_;                                            // of the tools
  std::array<std::optional<ItemListView>, catalog::kListKinds.size()> items_;  // of the rest
  ReviewedSchemas schemas_;
  CallLimits limits_of_calls_;
  std::map<std::string, Reservation> reserved_;
  std::vector<Abandoned> abandoned_;
  std::optional<Instant> paused_since_;  // a question of the server's is open at the client
  std::set<std::string> subscribed_;     // resources, in the handshake era
  std::set<std::string> recorded_drift_;
  bool identity_blocked_ = false;  // sticky: calls are refused for the rest of the process
  std::deque<Message> early_;      // what a client that does not wait for its handshake sent after `initialize`
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  bool client_shows_forms_ = false;  // as it said in `initialize`
  Confirmations confirmations_;
  std::map<Id, Asked> asked_;                     // by the id of the call
  std::map<std::string, Word> words_;             // by the id of the request, as JSON
  std::map<Id, std::optional<Instant>> retried_;  // by us: counted before, and its answer is due as it was
  std::deque<std::string> withdrawn_questions_;   // a late answer to these is dropped
  bool published_ = false;
  std::set<std::string> noticed_;
  std::set<std::string> noticed_of_server_;

  bool client_ended_ = false;
  bool server_input_closed_ = false;
  bool server_gone_ = false;
  std::uint64_t lines_sent_ = 0;   // to the server
  std::uint64_t probes_sent_ = 0;  // server/discover among them
  bool spare_ = false;             // a second server can still take the place of this one
  bool respawning_ = false;        // it is being started
  bool terminate_sent_ = false;
  bool kill_sent_ = false;
  std::optional<Instant> drain_until_;
  std::optional<Instant> terminate_at_;
  std::optional<Instant> kill_at_;
  std::optional<Instant> give_up_at_;  // of a failed launch
};

}  // namespace cordon::gate
