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

// False when a rule among the limits of `outstanding` has no room for the call now; then it was refused. Else it
// counts, when it is told to.
bool Session::Impl::admit_by_limits(const Message& message, const Outstanding& outstanding, Counted counted) {
  const policy::Tools& tools = config_.policy.tools;
  const auto in_flight = [&](std::size_t rule) {
    return static_cast<std::size_t>(std::ranges::count_if(outstanding_, [&](const auto& entry) {
      return std::ranges::find(entry.second.limits, rule) != entry.second.limits.end();
    }));
  };
  auto refusal = counted == Counted::yes ? limits_of_calls_.admit(tools, outstanding.limits, now_, in_flight)
                                         : limits_of_calls_.refusal(tools, outstanding.limits, now_, in_flight);
  if (!refusal) {
    return true;
  }
  notice_once(text::cat("a call to '", text::printable(outstanding.tool, 100), "' was refused: limit of rule ",
                        refusal->rule + 1));
  refuse_call(message, Errc::rate_limited, text::cat("limit of rule ", refusal->rule + 1), std::move(refusal->detail));
  return false;
}

// An opening may not be cancelled, and a subscription lasts as long as it is wanted.
void Session::Impl::set_answer_deadline(Outstanding& request) const {
  if (request.method == "initialize" || request.method == "subscriptions/listen") {
    return;
  }
  request.answer_ms = answer_timeout(config_.policy, request.limits);
  if (request.answer_ms) {
    request.answer_by = now_ + *request.answer_ms;
  }
}

// Progress does not prolong the time: else a server could keep a call for ever.
void Session::Impl::tick_answers() {
  std::vector<Id> late;
  for (const auto& [id, request] : outstanding_) {
    if (request.answer_by && now_ >= *request.answer_by) {
      late.push_back(id);
    }
  }
  for (const Id& id : late) {
    const auto found = outstanding_.find(id);
    const Outstanding request = std::move(found->second);
    outstanding_.erase(found);
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
    if (request.answer_by && (!next || *request.answer_by < *next)) {
      next = request.answer_by;
    }
  }
  return next;
}

}  // namespace cordon::gate
