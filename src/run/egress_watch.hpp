// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells of connections that the kernel refused inside, since nobody listens there: other ports of a listed host, and
// addresses. Nothing is let through or held up here.

#include <functional>
#include <memory>

#include "base/fd.hpp"
#include "egress/plan.hpp"
#include "run/egress_net.hpp"

namespace cordon::run {

class EgressWatch {
 public:
  using Refused = std::function<void(egress::Door)>;
  EgressWatch(Loop& loop, UniqueFd socket, Refused refused);
  // What was refused up to now is told before.
  void close();

 private:
  void ready();

  UniqueFd socket_;
  Refused refused_;
  std::unique_ptr<Poll> poll_ = {};
};

}  // namespace cordon::run
