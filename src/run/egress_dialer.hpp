// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection to the first of several addresses that answers. They have been checked: nothing is looked up here.
// Addresses of both families in turn, each 250 ms after the one before unless that has failed (RFC 8305).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/fd.hpp"
#include "egress/address.hpp"
#include "run/egress_net.hpp"

namespace cordon::run {

// IPv6 first, then in turn; within a family as they came.
std::vector<egress::IpAddress> in_turn(const std::vector<egress::IpAddress>& addresses);

class Dialer {
 public:
  struct Outcome {
    UniqueFd fd = {};  // connected; invalid: none answered
    egress::IpAddress address = {};
    int error_number = 0;  // of the last attempt
  };
  using Done = std::function<void(Outcome)>;

  static constexpr std::uint64_t kStaggerMs = 250;

  // `addresses` in the order in which to try them. `done` is called once, from the loop or from within start().
  Dialer(Loop& loop, std::vector<egress::IpAddress> addresses, std::uint16_t port, Done done);
  void start() { next(); }

 private:
  struct Attempt {
    UniqueFd fd = {};
    egress::IpAddress address = {};
    std::unique_ptr<Poll> poll = {};
  };
  void next();
  void ready(Attempt& attempt);
  void finish(Outcome outcome);

  Loop& loop_;
  std::vector<egress::IpAddress> addresses_;
  std::uint16_t port_;
  Done done_;
  LoopTimer timer_;
  std::size_t tried_ = 0;
  std::size_t open_ = 0;
  int error_number_ = 0;
  bool over_ = false;
  std::vector<std::unique_ptr<Attempt>> attempts_ = {};
};

}  // namespace cordon::run
