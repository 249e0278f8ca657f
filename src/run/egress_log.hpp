// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is written down about an egress: a record of each attempt, a record of what became of it, and for a person the
// line that would allow what was denied. Each pair of a name and a port is written down at its first use; what repeats
// is limited and counted, since the server alone can cause any number.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/rate.hpp"
#include "base/time.hpp"
#include "egress/address.hpp"
#include "egress/plan.hpp"

namespace cordon::run {

// Where records and lines go. `record` is false when it could not be written: then nothing more may pass.
struct EgressOutput {
  std::function<bool(std::string_view body)> record = {};
  std::function<void(std::string_view line)> notice = {};
};

struct EgressAttempt {
  std::uint64_t number = 0;  // of the connection; 0: a question only
  std::string host = {};     // printable
  std::uint16_t port = 0;    // 0: a question only
  std::optional<egress::IpAddress> address = {};
  std::string_view why = {};      // denied, flagged: unlisted_name, private_address, sni_mismatch, …
  std::string named = {};         // by the client, where that is why
  std::string policy_entry = {};  // what would allow it: "evil.test:443"; empty: nothing is to be said
  bool listed = false;            // there is an entry for it, in whose place that one would stand
};

struct EgressEnd {
  std::uint64_t number = 0;
  std::string host = {};
  std::uint16_t port = 0;
  std::uint64_t bytes_up = 0;  // from the server of the launch
  std::uint64_t bytes_down = 0;
  std::int64_t ms = 0;
  std::string_view how = {};                      // closed, reset, idle, ended
  std::optional<egress::IpAddress> address = {};  // that was connected to
};

class EgressLog {
 public:
  enum class Decision : std::uint8_t { allowed, flagged, denied };

  EgressLog(EgressOutput output, std::string policy_file)
      : output_(std::move(output)), policy_file_(std::move(policy_file)) {}

  // False when the record could not be written.
  bool attempt(Decision decision, const EgressAttempt& attempt, Instant now);
  bool ended(const EgressEnd& end, Instant now);
  // Says what was counted. At the end, and when it is due.
  bool flush();
  std::optional<Instant> next_deadline() const { return limit_.summary_due(); }
  bool broken() const { return broken_; }

  static constexpr std::size_t kMaxFirstUses = 1024;
  static constexpr std::size_t kMaxHints = 32;

 private:
  bool write(std::string_view body);
  void hint(Decision decision, const EgressAttempt& attempt);

  EgressOutput output_;
  std::string policy_file_;
  RateLimit limit_ = RateLimit(100, 10);
  std::set<std::string> seen_ = {};
  std::set<std::string> hinted_ = {};
  bool broken_ = false;
};

}  // namespace cordon::run
