// SPDX-License-Identifier: Apache-2.0
#include "core/gate/task_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"

namespace cordon::gate {
namespace {

using json::Kind;
using json::Value;
using wire::Era;

constexpr std::array<std::string_view, 5> kStatuses = {"working", "input_required", "completed", "failed", "cancelled"};
constexpr std::size_t kMaxTimeBytes = 64;

std::string_view ttl_name(Era era) { return era == Era::stateless ? "ttlMs" : "ttl"; }
std::string_view interval_name(Era era) { return era == Era::stateless ? "pollIntervalMs" : "pollInterval"; }

bool is_time(const Value& value) {
  return value.is(Kind::string) && value.raw().size() <= kMaxTimeBytes && value.raw().find('\\') == std::string::npos;
}

bool is_duration(const Value& value) { return value.safe_integer().value_or(-1) >= 0; }

}  // namespace

std::optional<TaskStatus> task_status(const Value& status) {
  if (!status.is(Kind::string)) {
    return std::nullopt;
  }
  const auto* found = std::ranges::find_if(kStatuses, [&](std::string_view one) { return status.string_equals(one); });
  return found == kStatuses.end() ? std::nullopt : std::optional(static_cast<TaskStatus>(found - kStatuses.begin()));
}

std::string_view name(TaskStatus status) { return kStatuses.at(static_cast<std::size_t>(status)); }

std::optional<std::string> task_id(const Value& holder) {
  const Value id = holder.find("taskId");
  if (!id.is(Kind::string) || id.raw().size() > kMaxTaskIdBytes || id.has_lone_surrogate() || id.has_nul()) {
    return std::nullopt;
  }
  std::string text = id.string();
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

bool Task::counts(Instant now) const {
  if (is_over(status) || (cancelled && now - *cancelled >= kCancelledMs)) {
    return false;
  }
  return now - created < std::clamp(ttl_ms.value_or(kMostTaskMs), kLeastTaskMs, kMostTaskMs);
}

// What is over is known for as long as the server keeps it. One that runs is known until the server says that it is
// not.
void TaskTable::forget(Instant now) {
  std::erase_if(tasks_, [&](const auto& entry) {
    const Task& task = entry.second;
    return is_over(task.status) && task.ttl_ms && now - task.ended >= *task.ttl_ms;
  });
}

Task* TaskTable::find(std::string_view id, Era era, Instant now) {
  forget(now);
  const auto found = tasks_.find(id);
  return found == tasks_.end() || found->second.era != era ? nullptr : &found->second;
}

bool TaskTable::has_room(Instant now) {
  forget(now);
  return tasks_.size() < kMaxTasks ||
         std::ranges::any_of(tasks_, [&](const auto& entry) { return !entry.second.counts(now); });
}

Task& TaskTable::add(const std::string& id, Task task, Instant now) {
  CORDON_ASSERT(has_room(now) && !knows(id));
  if (tasks_.size() >= kMaxTasks) {
    auto oldest = tasks_.end();
    for (auto at = tasks_.begin(); at != tasks_.end(); ++at) {
      if (!at->second.counts(now) && (oldest == tasks_.end() || at->second.created < oldest->second.created)) {
        oldest = at;
      }
    }
    tasks_.erase(oldest);
  }
  return tasks_.emplace(id, std::move(task)).first->second;
}

void TaskTable::erase(std::string_view id) {
  if (const auto found = tasks_.find(id); found != tasks_.end()) {
    tasks_.erase(found);
  }
}

std::size_t TaskTable::counting(std::size_t rule, Instant now) const {
  return static_cast<std::size_t>(std::ranges::count_if(tasks_, [&](const auto& entry) {
    return std::ranges::find(entry.second.limits, rule) != entry.second.limits.end() && entry.second.counts(now);
  }));
}

bool TaskTable::holds_token(const wire::Id& token) const {
  return std::ranges::any_of(
      tasks_, [&](const auto& entry) { return !is_over(entry.second.status) && entry.second.progress_token == token; });
}

Status check_task(const Value& object, Era era) {
  if (!object.is(Kind::object) || !task_id(object)) {
    return fail(Errc::message_malformed, "a task without an id that can be told");
  }
  if (!task_status(object.find("status"))) {
    return fail(Errc::message_malformed, "a task of an unknown status");
  }
  for (const std::string_view time : {"createdAt", "lastUpdatedAt"}) {
    if (!is_time(object.find(time))) {
      return fail(Errc::message_malformed, "a task without its times");
    }
  }
  const Value ttl = object.find(ttl_name(era));
  const Value interval = object.find(interval_name(era));
  if ((ttl && !ttl.is(Kind::null) && !is_duration(ttl)) || (interval && !is_duration(interval))) {
    return fail(Errc::message_malformed, "a task with a duration that cannot be told");
  }
  if (const Value said = object.find("statusMessage"); said && !said.is(Kind::string)) {
    return fail(Errc::message_malformed, "a task with a message that is no text");
  }
  return {};
}

std::optional<std::int64_t> task_ttl(const Value& object, Era era) { return object.find(ttl_name(era)).safe_integer(); }

void write_task(json::Writer& w, const Value& object, Era era, TaskStatus status) {
  w.key("taskId").value(object.find("taskId")).member("status", name(status));
  for (const std::string_view key : {std::string_view("createdAt"), std::string_view("lastUpdatedAt"), ttl_name(era),
                                     interval_name(era), std::string_view("statusMessage")}) {
    if (const Value value = object.find(key)) {
      w.key(key).value(value);
    }
  }
}

}  // namespace cordon::gate
