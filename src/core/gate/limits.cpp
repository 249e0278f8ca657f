// SPDX-License-Identifier: Apache-2.0
#include "core/gate/limits.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cordon::gate {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;

}  // namespace

std::optional<std::int64_t> answer_timeout(const policy::Policy& policy, const RuleIndexes& rules) {
  std::optional<std::int64_t> least;
  const auto consider = [&](std::uint32_t seconds) {
    const std::int64_t ms = std::int64_t{seconds} * 1'000;
    least = std::min(least.value_or(ms), ms);
  };
  if (policy.messages.answer_timeout_seconds != 0) {
    consider(policy.messages.answer_timeout_seconds);
  }
  for (const std::size_t rule : rules) {
    if (const auto seconds = policy.tools.rules[rule].answer_timeout_seconds) {
      consider(*seconds);
    }
  }
  return least;
}

std::optional<CallLimits::Refusal> CallLimits::refusal(const policy::Tools& tools, const RuleIndexes& rules,
                                                       Instant now, const Load& load) {
  for (const std::size_t index : rules) {
    const policy::Rule& rule = tools.rules[index];
    if (rule.calls_in_flight && load.in_flight(index) >= *rule.calls_in_flight) {
      return Refusal{index, text::cat("only ", *rule.calls_in_flight,
                                      " such calls may wait for an answer at once; try again when one was answered")};
    }
    if (!rule.calls_per_minute) {
      continue;
    }
    std::deque<Instant>& recent = recent_[index];
    while (!recent.empty() && now - recent.front() >= kMinuteMs) {
      recent.pop_front();
    }
    if (recent.size() + load.reserved(index) >= *rule.calls_per_minute) {
      if (recent.empty()) {
        return Refusal{index, text::cat("only ", *rule.calls_per_minute,
                                        " such calls a minute are let through, and as many wait for a person's word")};
      }
      const std::int64_t wait_ms = kMinuteMs - std::max<std::int64_t>(now - recent.front(), 0);
      return Refusal{index,
                     text::cat("only ", *rule.calls_per_minute, " such calls a minute are let through; try again in ",
                               (wait_ms + 999) / 1'000, " s")};
    }
  }
  return std::nullopt;
}

void CallLimits::count(const policy::Tools& tools, const RuleIndexes& rules, Instant now) {
  for (const std::size_t index : rules) {
    if (tools.rules[index].calls_per_minute) {
      recent_[index].push_back(now);
    }
  }
}

}  // namespace cordon::gate
