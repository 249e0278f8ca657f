// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which questions to a person are open, and what was decided: nonces that are spent by their first use, calls that were
// declined, what is remembered, and the bounds that keep a model from flooding a person with questions. Pure.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/hash.hpp"
#include "base/time.hpp"
#include "core/json/value.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

inline constexpr std::size_t kMaxAsked = 8;           // that are open at the same time
inline constexpr std::size_t kAskedPerMinute = 20;    // whatever becomes of them
inline constexpr std::int64_t kDeclinedMs = 600'000;  // how long a no holds for the same call
inline constexpr std::size_t kDeclinesPerTool = 3;    // within that time; then the tool is not asked about
inline constexpr std::int64_t kContinuationMs =
    1'800'000;  // for answering what the server asks during a confirmed call
inline constexpr std::size_t kMaxContinuations = 64;

// What a confirmation binds to, as digests.
struct ConfirmSubject {
  std::string tool = {};
  std::string call = {};     // of everything: server, session, tool, definition, snapshot, arguments
  std::string pattern = {};  // the same without the arguments, with the effect and the rule: all calls of that kind
  bool operator==(const ConfirmSubject&) const = default;
};
struct SubjectParts {
  std::string_view server = {};
  std::string_view session = {};
  std::string_view tool = {};
  std::string_view definition = {};  // as it is served now
  std::string_view snapshot = {};    // digest of the snapshot
  std::string_view effect = {};
  std::string_view because = {};  // the line of the policy
};
// `arguments` may be absent or null, which is the same as an empty object.
ConfirmSubject confirm_subject(const SubjectParts& parts, const json::Value& arguments);

class Confirmations {
 public:
  explicit Confirmations(policy::Confirm::Remember remember = policy::Confirm::Remember::never) : remember_(remember) {}

  enum class Standing : std::uint8_t {
    ask,
    remembered,
    declined,   // this call, or three calls of this tool, a short while ago
    too_many,   // questions are open
    too_often,  // questions within a minute
  };
  Standing standing(const ConfirmSubject& subject, Instant now);

  // Names of questions; unguessable and never the same twice, given a key of this process.
  std::string fresh_nonce(const MacKey& key, std::string_view purpose);

  enum class Stage : std::uint8_t {
    asked,    // a person is asked
    granted,  // a person said yes, and the server asks something in the course of the call
  };
  struct Open {
    ConfirmSubject subject = {};
    Stage stage = Stage::asked;
    Instant deadline = {};
  };
  // Only for a subject whose standing is `ask`, or for a continuation.
  void open(const std::string& nonce, Open question, Instant now);
  // The first use. Nothing for one that was used, or never opened.
  std::optional<Open> spend(const std::string& nonce);

  void decline(const ConfirmSubject& subject, Instant now);
  // Each does nothing when the policy does not allow it.
  void remember_arguments(const ConfirmSubject& subject);
  void remember_pattern(const ConfirmSubject& subject);

 private:
  struct Decline {
    std::string tool = {};
    std::string call = {};
    Instant at = {};
  };
  void forget(Instant now);
  std::size_t count(Stage stage) const;

  policy::Confirm::Remember remember_;
  std::map<std::string, Open> open_ = {};
  std::deque<Instant> asked_at_ = {};
  std::deque<Decline> declined_ = {};
  std::set<std::string> remembered_ = {};
  std::uint64_t nonces_ = 0;
};

}  // namespace cordon::gate
