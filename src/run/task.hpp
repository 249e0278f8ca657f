// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program that is started like a server and does a piece of work: nobody talks to it, its lines are read, and its end
// is waited for. Hosts that it may reach are answered as those of a server are.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/gate/action.hpp"
#include "run/child.hpp"
#include "run/egress_broker.hpp"

namespace cordon::run {

struct TaskConfig {
  ServerProcess process = {};
  std::optional<EgressConfig> egress = {};
  std::function<void(std::string_view line)> line = {};    // of stdout and stderr, without its end, cut when very long
  std::function<void(std::string_view line)> notice = {};  // what the egress has to say to a person
  std::function<Status()> before_first_byte = {};
  std::int64_t timeout_ms = 0;
};

// How it ended. timed_out when it took too long and was ended; launch_failed when a signal ended us meanwhile; in both
// cases nothing of it is left. What `before_first_byte` gives.
Result<gate::ExitReport> run_task(TaskConfig config);

}  // namespace cordon::run
