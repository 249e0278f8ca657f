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

// What a probe in a view of somebody else's makes waits for on its standard input: its token, then the end.
void tell(Launched& launched, const Canaries& canaries);

// `plan` comes from Canaries::plan. What changed outside is one of the findings. launch_failed or unsupported_isolation
// when the probe could not be started or did not come to its end, timed_out when it was given up.
// With a template, whose program has to let the probe through: unsupported_isolation where it does not.
Result<std::vector<Finding>> look(const Plan& plan, const Canaries& canaries, const LookOptions& options);

// Does what the server leaves behind end with it (`killed` false), or with the launch, when that is killed? `plan`
// comes from Canaries::plan with the word for it. For programs of others; ours are held to it by tests.
Result<Finding> left_behind(const Plan& plan, const Canaries& canaries, const LookOptions& options, bool killed);

}  // namespace cordon::sandbox::boundary
