// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tasks that calls of this session became, by the id that the server gave each: what may be asked about one, and
// how its answer is judged, is told by the call that it was. Bounded; pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/time.hpp"
#include "core/gate/limits.hpp"
#include "core/gate/questions.hpp"
#include "core/json/value.hpp"
#include "core/json/write.hpp"
#include "core/wire/id.hpp"
#include "core/wire/synth.hpp"

namespace cordon::gate {

inline constexpr std::size_t kMaxTasks = 256;
inline constexpr std::size_t kMaxTaskIdBytes = 1'024;
inline constexpr std::size_t kMaxTaskQuestions = 64;  // in the life of one task
// How long a task counts among the calls in flight when nobody hears that it ended: as long as the server says that it
// keeps it, but neither less nor more than this.
inline constexpr std::int64_t kLeastTaskMs = 300'000;
inline constexpr std::int64_t kMostTaskMs = 3'600'000;
// How long what was cancelled still counts, unless its end is heard before: a server may go on with it.
inline constexpr std::int64_t kCancelledMs = 60'000;

enum class TaskStatus : std::uint8_t { working, input_required, completed, failed, cancelled };
std::optional<TaskStatus> task_status(const json::Value& status);
std::string_view name(TaskStatus status);
inline bool is_over(TaskStatus status) { return status >= TaskStatus::completed; }

// The id of a task as a member `taskId` gives it; nothing when it cannot be told.
std::optional<std::string> task_id(const json::Value& holder);

// What a server asked in the course of a task (stateless era), by its key. A key stands for one question for ever.
struct TaskQuestion {
  enum class State : std::uint8_t {
    open,      // the client may answer it, once
    answered,  // it did, or we did
  };
  std::string digest = {};
  State state = State::open;
};

struct Task {
  std::string tool = {};
  wire::Era era = wire::Era::handshake;
  bool flagged = false;
  ClientOffers offers = {};  // of the call
  RuleIndexes limits = {};   // that it counts for while it runs
  std::optional<wire::Id> progress_token = {};
  TaskStatus status = TaskStatus::working;
  std::optional<std::int64_t> ttl_ms = {};  // as the server says; nothing: for ever
  Instant created = {};
  Instant ended = {};                     // when it was heard that it is over
  std::optional<Instant> cancelled = {};  // when a cancellation was passed on and acknowledged
  std::map<std::string, TaskQuestion> questions = {};

  bool counts(Instant now) const;
};

class TaskTable {
 public:
  // The task with this id and of this era; nullptr when no call of this session became one.
  Task* find(std::string_view id, wire::Era era, Instant now);
  bool knows(std::string_view id) const { return tasks_.contains(id); }
  // False when there is no room: all that are known are running.
  bool has_room(Instant now);
  // Only where has_room(), for an id that is not known. One that is over is given up for it where that is needed.
  Task& add(const std::string& id, Task task, Instant now);
  void erase(std::string_view id);
  std::size_t counting(std::size_t rule, Instant now) const;
  bool holds_token(const wire::Id& token) const;
  void clear() { tasks_.clear(); }

 private:
  void forget(Instant now);
  std::map<std::string, Task, std::less<>> tasks_ = {};
};

// Is `object` a task as the revisions define it: an id, a status, times, how long it is kept? The error says what is
// wrong, in our words.
Status check_task(const json::Value& object, wire::Era era);
// How long the server keeps it, as it says in `object`.
std::optional<std::int64_t> task_ttl(const json::Value& object, wire::Era era);
// What a task is in few words: the members that check_task() looks at and nothing else, without braces around them.
void write_task(json::Writer& w, const json::Value& object, wire::Era era, TaskStatus status);

}  // namespace cordon::gate
