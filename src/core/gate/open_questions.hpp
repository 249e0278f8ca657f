// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is remembered of questions that were passed on to the client, so that each answer passes once and to whom it
// belongs. All of it is bounded.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/json/value.hpp"
#include "core/wire/id.hpp"
#include "core/wire/message.hpp"

namespace cordon::gate {

inline constexpr std::size_t kMaxOpenQuestions = 16;  // pings not counted
inline constexpr std::size_t kQuestionsPerMinute = 60;
inline constexpr std::int64_t kQuestionMs = 600'000;  // people take their time
inline constexpr std::size_t kMaxQuestionsInResult = 32;
inline constexpr std::size_t kMaxRememberedAsked = 256;
inline constexpr std::size_t kMaxRememberedElicitations = 256;
inline constexpr std::int64_t kElicitationMs = 3'600'000;  // after that nobody waits for its completion

// A request of the server that the client has to answer, under an id of ours.
struct OpenQuestion {
  wire::Id server_id;
  std::string method = {};
  Instant deadline = {};
  std::optional<wire::Id> progress_token = {};
};

// An `input_required` result that went to the client: what its retry may bring.
struct AskedResult {
  std::string call = {};                             // digest of method and params
  std::string state = {};                            // digest of requestState; empty: there was none
  std::set<std::string> passed = {};                 // keys that the client may answer
  std::map<std::string, std::string> answered = {};  // by us: key to result
};

struct OpenQuestions {
  std::map<std::string, OpenQuestion> open = {};  // by our id
  std::uint64_t count = 0;
  std::deque<std::string> settled = {};  // our ids: the server took its question back, or it took too long
  std::deque<Instant> asked_at = {};     // within the last minute
  std::optional<Instant> flood_noted = {};
  struct Elicitation {
    std::string id = {};
    Instant until = {};
  };
  std::deque<Elicitation> elicitations = {};  // whose completion may be told, once; the oldest first
  std::deque<AskedResult> asked = {};

  // Counts one more question; false when there were too many lately.
  bool admit(Instant now);
  std::size_t open_for_people() const;
  const std::string* id_of(const wire::Id& server_id) const;
  void settle(const std::string& id);
  void remember(AskedResult result);
  // The oldest makes room for a new one; the completion of one that is forgotten is dropped.
  void remember_elicitation(const std::string& id, Instant now);
  // True once for each that is remembered.
  bool take_elicitation(const std::string& id, Instant now);
};

// Of what a retry must repeat: the method, and params without `_meta` and the members that answer.
std::string digest_of_call(const wire::Message& message);

// `message` again with these answers, the client's before ours, and with `state` (JSON) when it is not empty.
std::string with_answers(const wire::Message& message, const std::map<std::string, std::string>& ours,
                         std::string_view state);

// requestState on its way to the client and back. What we put around a server's state belongs here: the server gets
// back what it gave, and only what it gave.
std::string pass_state(const json::Value& state);                       // JSON for the client
std::optional<std::string> take_state(const json::Value& from_client);  // the server's own text, decoded

}  // namespace cordon::gate
