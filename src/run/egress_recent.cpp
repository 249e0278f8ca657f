// SPDX-License-Identifier: Apache-2.0
#include "run/egress_recent.hpp"

namespace cordon::run {

RecentAnswers::Addresses RecentAnswers::find(const std::string& host, Instant now) const {
  const auto found = all_.find(host);
  return found == all_.end() || now - found->second.asked >= keep_ms_ ? Addresses() : found->second.addresses;
}

void RecentAnswers::keep(const std::string& host, const Addresses& addresses, Instant asked) {
  if (keep_ms_ > 0 && (all_.size() < kMost || all_.contains(host))) {
    all_[host] = {addresses, asked};
  }
}

}  // namespace cordon::run
