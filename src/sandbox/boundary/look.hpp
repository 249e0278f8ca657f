// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the probe by a plan and collects what it finds.

#include <signal.h>

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "sandbox/boundary/canaries.hpp"
#include "sandbox/boundary/finding.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox::boundary {

// As long as this lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT wait, so that what was planted is removed before they end
// us. Make it before the canaries: then they are gone when it lets the signals through. One thread only.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  // Readable when one of them waits; -1 when that cannot be told.
  int descriptor() const { return arrived_.get(); }
  bool arrived() const;

 private:
  sigset_t before_ = {};
  UniqueFd arrived_ = {};
};

struct LookOptions {
  LaunchOptions launch = {};
  int interrupted = -1;  // a descriptor that becomes readable when it is to be given up
  std::int64_t timeout_ms = 30'000;
};

// `plan` comes from Canaries::plan. What changed outside is one of the findings. launch_failed or unsupported_isolation
// when the probe could not be started or did not come to its end, timed_out when it was given up.
Result<std::vector<Finding>> look(const Plan& plan, const Canaries& canaries, const LookOptions& options);

}  // namespace cordon::sandbox::boundary
