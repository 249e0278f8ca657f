// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time as a value: the core is told what time it is and never asks.

#include <compare>
#include <cstdint>

namespace cordon {

// Milliseconds on a monotonic clock whose zero has no meaning.
struct Instant {
  std::int64_t ms = 0;
  auto operator<=>(const Instant&) const = default;
  Instant operator+(std::int64_t delta_ms) const { return {ms + delta_ms}; }
  std::int64_t operator-(const Instant& other) const { return ms - other.ms; }
};

}  // namespace cordon
