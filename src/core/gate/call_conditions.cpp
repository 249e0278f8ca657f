// SPDX-License-Identifier: Apache-2.0
// What a call has to meet beside rules and effects: the reviewed schema, limits, and an answer in time.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/gate/records.hpp"
#include "core/gate/session_state.hpp"
#include "core/json/write.hpp"

namespace cordon::gate {

// What cannot be enforced is said once and early.
void Session::Impl::make_schemas_ready() {
  if (!config_.snapshot || config_.launch_failure) {
    return;
  }
  schemas_ = ReviewedSchemas(*config_.snapshot, config_.policy);
  for (const std::string& text : schemas_.not_understood()) {
    notice_once(text + "; what depends on it is refused");
  }
}

bool Session::Impl::refuse_by_schema(const Message& message, const ToolView& tool) {
  if (config_.policy.tools.schema != policy::SchemaCheck::enforce && !tool.served_as_pinned) {
    return false;
  }
  auto refusal = schemas_.refuse_arguments(tool.name, message.params.find("arguments"));
  if (!refusal) {
    return false;
  }
  notice_once(text::cat("a call to '", text::printable(tool.name, 100), "' was refused by the reviewed input schema"));
  refuse_call(message, refusal->code, "the reviewed input schema", std::move(refusal->detail));
  return true;
}

CallLimits::Load Session::Impl::load() const {
  const auto has = [](const RuleIndexes& rules, std::size_t rule) {
    return std::ranges::find(rules, rule) != rules.end();
  };
  const auto reserved = [this, has](std::size_t rule) {
    return static_cast<std::size_t>(std::ranges::count_if(reserved_, [&](const auto& entry) {
      return has(entry.second.limits, rule) && now_ < entry.second.until && !entry.second.counted;
    }));
  };
  const auto in_flight = [this, has, reserved](std::size_t rule) {
    const auto sent_again = std::ranges::count_if(reserved_, [&](const auto& entry) {
      return has(entry.second.limits, rule) && now_ < entry.second.until && entry.second.counted;
    });
    const auto waiting =
        std::ranges::count_if(outstanding_, [&](const auto& entry) { return has(entry.second.limits, rule); });
    const auto abandoned = std::ranges::count_if(
        abandoned_, [&](const Abandoned& one) { return has(one.limits, rule) && now_ < one.until; });
    return static_cast<std::size_t>(waiting + abandoned + sent_again) + tasks_.counting(rule, now_) + reserved(rule);
  };
  return {in_flight, reserved};
}

// False when a rule among the limits of `outstanding` has no room for the call now; then it was refused.
bool Session::Impl::admit_by_limits(const Message& message, const Outstanding& outstanding) {
  if (outstanding.limits.empty()) {
    return true;
  }
  auto refusal = limits_of_calls_.refusal(config_.policy.tools, outstanding.limits, now_, load());
  if (!refusal) {
    return true;
  }
  notice_once(text::cat("a call to '", text::printable(outstanding.tool, 100), "' was refused: limit of rule ",
                        refusal->rule + 1));
  refuse_call(message, Errc::rate_limited, text::cat("limit of rule ", refusal->rule + 1), std::move(refusal->detail));
  return false;
}

// `holder`: the nonce of the question, or, once it was answered with a yes, the request.
void Session::Impl::reserve(std::string holder, RuleIndexes limits, Instant until) {
  std::erase_if(reserved_, [&](const auto& entry) { return now_ >= entry.second.until; });
  if (!limits.empty()) {
    reserved_.insert_or_assign(std::move(holder), Reservation{std::move(limits), until});
  }
}

std::string Session::Impl::holder_of(const Id& id) { return "request " + id.json(); }

bool Session::Impl::has_place(const Id& id) const { return !reserved_.empty() && reserved_.contains(holder_of(id)); }

void Session::Impl::give_up_place(const Id& id) {
  if (!reserved_.empty()) {
    reserved_.erase(holder_of(id));
  }
}

// The person said yes: the place is kept for the call itself, which is judged again, maybe after a look at the list.
void Session::Impl::hand_over_reservation(const std::string& nonce, const Id& id) {
  if (auto place = reserved_.extract(nonce)) {
    place.key() = holder_of(id);
    place.mapped().until = now_ + kMaxLearnMs;
    reserved_.erase(place.key());
    reserved_.insert(std::move(place));
  }
}

// A call that nobody waits for any more still counts as long as the server may work on it.
void Session::Impl::abandon(const Id& id, const Outstanding& request) {
  std::erase_if(abandoned_, [&](const Abandoned& one) { return now_ >= one.until; });
  if (!request.limits.empty() && abandoned_.size() < kRememberedCancelled) {
    abandoned_.push_back({id, request.limits, now_ + kAbandonedMs});
  }
}

// An opening may not be cancelled, and a subscription lasts as long as it is wanted.
void Session::Impl::set_answer_deadline(Outstanding& request) {
  if (request.method == "initialize" || request.method == "subscriptions/listen") {
    return;
  }
  const Task* task = request.method == "tasks/result" ? tasks_.find(request.task, request.era, now_) : nullptr;
  request.answer_ms = answer_timeout(config_.policy, task != nullptr ? task->limits : request.limits);
  if (request.answer_ms) {
    request.answer_by = now_ + *request.answer_ms;
  }
}

// While the client shows a question of the server's, the clocks of all that it owes stand still: which call a question
// belongs to cannot be told. Each may stand still for as long as one question may be open.
void Session::Impl::watch_clocks() {
  const bool asking = questions_.open_for_people() > 0;
  if (asking && !paused_since_) {
    paused_since_ = now_;
  } else if (!asking && paused_since_) {
    for (auto& [id, request] : outstanding_) {
      if (request.answer_by && request.era == wire::Era::handshake) {
        const std::int64_t stood = std::min(request.pause_ms, now_ - std::max(*paused_since_, request.sent_at));
        request.pause_ms -= stood;
        request.answer_by = *request.answer_by + stood;
      }
    }
    paused_since_.reset();
  }
}

std::optional<Instant> Session::Impl::answer_due(const Outstanding& request) const {
  const bool stands = paused_since_ && request.answer_by && request.era == wire::Era::handshake;
  return stands ? std::optional(*request.answer_by + request.pause_ms) : request.answer_by;
}

// Progress does not prolong the time: else a server could keep a call for ever.
void Session::Impl::tick_answers() {
  std::vector<Id> late;
  for (const auto& [id, request] : outstanding_) {
    if (const auto due = answer_due(request); due && now_ >= *due) {
      late.push_back(id);
    }
  }
  for (const Id& id : late) {
    const auto found = outstanding_.find(id);
    const Outstanding request = std::move(found->second);
    outstanding_.erase(found);
    abandon(id, request);
    cancelled_.push_back(id);
    if (cancelled_.size() > kRememberedCancelled) {
      cancelled_.pop_front();
    }
    const std::string detail = text::cat("the server did not answer within ", *request.answer_ms / 1'000, " s");
    record(refused_record(Side::server, Errc::timed_out, detail, id, request.method));
    notice_server(text::cat(detail, " (", text::printable(request.method, 100), ")"));
    if (!server_input_closed_) {
      json::Writer params;
      params.begin_object().member_raw("requestId", id.json()).member("reason", "no answer in time").end_object();
      to_server(wire::notification_line("notifications/cancelled", params.take()));
    }
    fail_reply(id, request, Errc::timed_out, detail);
  }
}

std::optional<Instant> Session::Impl::next_answer_deadline() const {
  std::optional<Instant> next;
  for (const auto& [id, request] : outstanding_) {
    if (const auto due = answer_due(request); due && (!next || *due < *next)) {
      next = due;
    }
  }
  return next;
}

}  // namespace cordon::gate
