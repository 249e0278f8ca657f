// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits that rules set: calls a minute, calls in flight, time for an answer. Told the time, never asking for it.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

using RuleIndexes = std::vector<std::size_t>;  // into policy::Tools::rules

// The least of the rules' answer time-outs and of `messages.answer_timeout_seconds`, in milliseconds; nothing for none.
std::optional<std::int64_t> answer_timeout(const policy::Policy& policy, const RuleIndexes& rules);

class CallLimits {
 public:
  struct Refusal {
    std::size_t rule = 0;
    std::string detail = {};  // for the model: what the limit is and when to try again
  };
  // What counts beside the calls of the last minute, by rule.
  struct Load {
    std::function<std::size_t(std::size_t rule)> in_flight;  // calls that the server works on or that wait for a person
    std::function<std::size_t(std::size_t rule)> reserved;   // those of them that wait for a person
  };
  // The rule that has no room for the call now.
  std::optional<Refusal> refusal(const policy::Tools& tools, const RuleIndexes& rules, Instant now, const Load& load);
  // A call that was let through.
  void count(const policy::Tools& tools, const RuleIndexes& rules, Instant now);

 private:
  // When each call of the last minute was let through, so that no minute has more than the limit.
  std::map<std::size_t, std::deque<Instant>> recent_ = {};
};

}  // namespace cordon::gate
