// SPDX-License-Identifier: Apache-2.0
#pragma once
// RateLimit: a token bucket that counts what it turns away, so that a flood becomes one line that says how much.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace cordon {

class RateLimit {
 public:
  struct Dropped {
    std::uint64_t items = 0;
    std::uint64_t bytes = 0;
  };

  // `burst` items at once, then `per_second`; both at least 1.
  RateLimit(std::int64_t burst, std::int64_t per_second)
      : capacity_(burst * kUnit), gain_per_ms_(per_second), tokens_(capacity_) {}

  // True when the item may pass; otherwise it is counted.
  bool admit(std::uint64_t bytes, Instant now) {
    refill(now);
    if (tokens_ < kUnit) {
      ++dropped_.items;
      dropped_.bytes += bytes;
      if (!first_drop_) {
        first_drop_ = now;
      }
      return false;
    }
    tokens_ -= kUnit;
    return true;
  }

  // Counts something that was lost for another reason, such as a full pipe.
  void count_lost(std::uint64_t bytes, Instant now) {
    ++dropped_.items;
    dropped_.bytes += bytes;
    if (!first_drop_) {
      first_drop_ = now;
    }
  }

  bool has_dropped() const { return dropped_.items != 0; }
  // When the summary of what was dropped is due: a second after the first of them.
  std::optional<Instant> summary_due() const {
    return first_drop_ ? std::optional(*first_drop_ + kSummaryDelayMs) : std::nullopt;
  }
  Dropped take_dropped() {
    first_drop_.reset();
    return std::exchange(dropped_, {});
  }
  // When the summary could not be written after all.
  void put_back(const Dropped& dropped, Instant now) {
    dropped_.items += dropped.items;
    dropped_.bytes += dropped.bytes;
    first_drop_ = now;
  }

 private:
  static constexpr std::int64_t kUnit = 1000;
  static constexpr std::int64_t kSummaryDelayMs = 1000;

  void refill(Instant now) {
    if (!last_) {
      last_ = now;
    }
    // A clock that stands still or goes back gives nothing; a long pause cannot overflow.
    const std::int64_t elapsed = std::clamp<std::int64_t>(now - *last_, 0, 3'600'000);
    tokens_ = std::min(capacity_, tokens_ + elapsed * gain_per_ms_);
    last_ = now;
  }

  std::int64_t capacity_;
  std::int64_t gain_per_ms_;  // in thousandths of an item, so items per second
  std::int64_t tokens_;
  std::optional<Instant> last_ = {};
  std::optional<Instant> first_drop_ = {};
  Dropped dropped_ = {};
};

}  // namespace cordon
