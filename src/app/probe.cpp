// SPDX-License-Identifier: Apache-2.0
#include "app/probe.hpp"

#include <algorithm>
#include <utility>

#include "app/launch_plan.hpp"
#include "app/planned_launch.hpp"
#include "base/text.hpp"
#include "sandbox/backend.hpp"

namespace cordon::app {

std::string ProbeReport::text(Style style) const {
  return cordon::text::cat("server ", cordon::text::printable(server), ", backend ", tried.plan.backend, ": ", what,
                           "\n\n", findings_text(tried.plan, tried.findings, style));
}

std::string ProbeReport::json() const {
  cordon::json::Writer out;
  out.begin_object().member("format", "mcp-cordon.probe").member_int("version", 1).member("server", server);
  out.member("backend", tried.plan.backend).key("guarantees");
  sandbox::write_guarantees(out, tried.plan.guarantees);
  out.key("checks");
  write_findings(out, tried.findings);
  out.key("summary");
  write_summary(out, tried.findings);
  out.end_object();
  return out.take();
}

Result<ProbeReport> probe_policy(const ProbeRequest& request) {
  const sandbox::boundary::HeldSignals signals;
  Result<PlannedLaunch> planned =
      plan_launch({request.caller, request.loaded, request.client_command, LaunchRequest::Depth::show});
  if (!planned) {
    return std::unexpected(planned.error());
  }
  // What `run` would choose is what is tried.
  const auto backends = sandbox::backends();
  const auto chosen = std::ranges::find(backends, std::string_view(planned->plan.backend),
                                        [](const sandbox::Backend* backend) { return backend->name; });
  CORDON_ASSERT(chosen != backends.end());
  BoundaryTrial trial{request.caller, std::move(planned->prepared.spec), signals.descriptor(), request.alter};
  trial.spec.backend = (*chosen)->choice;
  Result<TriedBoundary> tried = try_boundary(trial);
  if (!tried) {
    return std::unexpected(tried.error());
  }
  return ProbeReport{request.loaded.policy.server, "the boundary, tried from inside in place of the server",
                     std::move(*tried)};
}

}  // namespace cordon::app
