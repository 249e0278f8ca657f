// SPDX-License-Identifier: Apache-2.0
#pragma once
// A sandbox tried from inside, for the commands that do so: where the canaries go, which plan is tried, and what came
// of it as text and JSON.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/style.hpp"
#include "base/error.hpp"
#include "core/json/write.hpp"
#include "sandbox/boundary/canaries.hpp"
#include "sandbox/boundary/look.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// Canaries for what runs with a view of its own, or without one.
enum class CanaryPlace : std::uint8_t {
  state_folder,
  reachable,  // started by root, a server without a view is an account that cannot get into root's state folder
};
Result<std::unique_ptr<sandbox::boundary::Canaries>> plant_canaries(const Caller& caller, CanaryPlace place,
                                                                    sandbox::boundary::Parts parts);

struct TriedBoundary {
  sandbox::Plan plan = {};
  std::vector<sandbox::boundary::Finding> findings = {};
  bool breached() const { return sandbox::boundary::count(findings, sandbox::boundary::Verdict::breached) > 0; }
};

struct BoundaryTrial {
  const Caller& caller;
  sandbox::LaunchSpec spec = {};  // of the server; the backend must be named
  int interrupted = -1;           // of HeldSignals
  // Tests break a plan with it, to see that it shows.
  std::function<void(sandbox::Plan&)> alter = {};
};
// Plans `spec` with the probe in place of the server and runs it. Must be called with the ending signals held.
Result<TriedBoundary> try_boundary(const BoundaryTrial& trial);

// "98 held, 0 breached, …"
std::string summary_line(std::span<const sandbox::boundary::Finding> findings);
// One line per check, grouped by guarantee, and what was breached once more at the end.
std::string findings_text(const sandbox::Plan& plan, std::span<const sandbox::boundary::Finding> findings, Style style);
// An array of objects.
void write_findings(json::Writer& out, std::span<const sandbox::boundary::Finding> findings);
// An object: how many of each verdict.
void write_summary(json::Writer& out, std::span<const sandbox::boundary::Finding> findings);

}  // namespace cordon::app
