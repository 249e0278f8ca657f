// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the resolver said a moment ago, so that one connection after the other to the same host does not wait for it.
// Only answers that led to a connection are kept, and only for some seconds; their addresses are judged anew at each
// use, by the rule of that connection. What did not lead to one is forgotten.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "egress/address.hpp"

namespace cordon::run {

class RecentAnswers {
 public:
  using Addresses = std::vector<egress::IpAddress>;

  explicit RecentAnswers(std::int64_t keep_ms) : keep_ms_(keep_ms) {}

  // Empty: there is none.
  Addresses find(const std::string& host, Instant now) const;
  // From `asked` on it counts: using an answer does not make it younger.
  void keep(const std::string& host, const Addresses& addresses, Instant asked);
  void forget(const std::string& host) { all_.erase(host); }

  // More than these are not kept.
  static constexpr std::size_t kMost = 512;

 private:
  struct Answer {
    Addresses addresses = {};
    Instant asked = {};
  };
  std::int64_t keep_ms_;
  std::map<std::string, Answer> all_ = {};
};

}  // namespace cordon::run
