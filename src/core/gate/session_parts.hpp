// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a session keeps of each thing that is open. Private to this folder; see session_state.hpp.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/gate/catalog_view.hpp"
#include "core/gate/confirmation.hpp"
#include "core/gate/limits.hpp"
#include "core/gate/list_walk.hpp"
#include "core/gate/open_questions.hpp"
#include "core/gate/questions.hpp"
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
// How long a call that was cancelled or timed out counts among those in flight, unless its answer comes before.
inline constexpr std::int64_t kAbandonedMs = 60'000;
inline constexpr std::int64_t kProgressMs = 10'000;  // clients give up after 60 s without a word

// The result that stands for one that did not come or may not pass.
std::string withheld_result(Errc code, std::string_view detail, wire::Era era);

namespace parts {

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
  std::optional<wire::Id> progress_token = {};
  std::optional<ConfirmSubject> confirmed = {};  // a person's word let this call pass
  ClientOffers offers = {};                      // stateless era: what this request says that the client can be asked
  std::string line = {};                         // the same: the request, where its result may ask for something first
  RuleIndexes limits = {};                       // of a call: the rules whose limits it counts for
  std::optional<std::int64_t> answer_ms = {};
  std::optional<Instant> answer_by = {};
  Instant sent_at = {};
  std::int64_t pause_ms = kQuestionMs;  // how long its clock may still stand while a person is asked
  bool may_become_task = false;         // of a call: its answer may be a task
  bool wants_task = false;              // the same, handshake era: the client waits for nothing else
  std::string task = {};                // tasks/*: the id
  std::set<std::string> answers = {};   // tasks/update: the questions that it answers
  std::set<std::string> tasks = {};     // subscriptions/listen: whose news are wanted
};
enum class Own : std::uint8_t { list, discover };
struct OwnRequest {
  Own own = Own::list;
  catalog::ListKind kind = catalog::ListKind::tools;
};
struct Held {
  wire::Message message = {};
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
// A call that waits until a person has decided: by a form of ours in the client, or by `mcp-cordon approve`.
enum class Way : std::uint8_t { form, approve };
struct Asked {
  wire::Message message = {};
  ConfirmSubject subject = {};
  Way way = Way::form;
  std::string nonce = {};
  std::string question = {};   // id of our elicitation/create, or the ID that approve takes
  std::string published = {};  // Way::approve: the line
  policy::Effect effect = policy::Effect::unknown;
  Instant deadline = {};
  Instant progress_at = {};  // when the client is told that the call goes on
  int progress = 0;
};
// A person's word for one request of the client, until that is forwarded or refused.
struct Word {
  std::string call = {};   // ConfirmSubject::call
  bool continues = false;  // it answers what the server asked in the course of the call
};
// A place under the limits of rules, kept for a call while a person is asked about it: a yes is never spent in vain. Or
// for one that we send again, which was counted when it passed first.
struct Reservation {
  RuleIndexes limits = {};
  Instant until = {};
  bool counted = false;
};
// A call that nobody waits for any more, and that the server may still work on.
struct Abandoned {
  wire::Id id;
  RuleIndexes limits = {};
  Instant until = {};
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
}  // namespace parts

}  // namespace cordon::gate
