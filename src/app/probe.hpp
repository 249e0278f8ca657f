// SPDX-License-Identifier: Apache-2.0
#pragma once
// probe: is a server's sandbox what its plan says? Tried from inside, under the very plan that `run` would make.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/boundary.hpp"
#include "app/caller.hpp"
#include "app/session_context.hpp"
#include "app/style.hpp"
#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

struct ProbeRequest {
  const Caller& caller;
  const LoadedPolicy& loaded;
  std::vector<std::string> client_command = {};
  std::function<void(sandbox::Plan&)> alter = {};  // for tests, see BoundaryTrial
};

struct ProbeReport {
  std::string server = {};
  std::string what = {};  // how it was tried
  TriedBoundary tried = {};
  // With a template: what was recorded of it for the next launches.
  std::optional<std::vector<sandbox::ConfirmedDetail>> confirmed = {};

  bool found() const;  // something was crossed that the plan, or a template, is to hold
  std::string text(Style style) const;
  std::string json() const;  // docs/formats/probe.md
};

// The server is not started and no secret is read. What prepare_launch and select give; launch_failed or timed_out when
// the probe did not come to its end, which says nothing about the boundary.
Result<ProbeReport> probe_policy(const ProbeRequest& request);

}  // namespace cordon::app
