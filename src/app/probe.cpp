// SPDX-License-Identifier: Apache-2.0
#include "app/probe.hpp"

#include <algorithm>
#include <utility>

#include "app/confirmations.hpp"
#include "app/launch_plan.hpp"
#include "app/planned_launch.hpp"
#include "base/text.hpp"
#include "sandbox/backend.hpp"

namespace cordon::app {

namespace {

// What `run` goes by from now on.
std::string confirmed_text(const sandbox::Plan& plan, const std::vector<sandbox::ConfirmedDetail>& confirmed) {
  std::vector<std::string> held;
  std::vector<std::string> crossed;
  std::vector<std::string> unknown;
  for (const sandbox::Guarantee& guarantee : plan.guarantees) {
    if (guarantee.name.find('.') == std::string::npos) {
      continue;
    }
    const auto found = std::ranges::find(confirmed, guarantee.name, &sandbox::ConfirmedDetail::name);
    (found == confirmed.end() ? unknown : found->held ? held : crossed).push_back(guarantee.name);
  }
  const auto line = [](std::string_view what, const std::vector<std::string>& names) {
    return names.empty() ? std::string() : cordon::text::cat(what, cordon::text::join(names, ", "), "\n");
  };
  return cordon::text::cat("\nFor this plan, until this machine is started again:\n", line("  confirmed: ", held),
                           line("  crossed, and so refused where required: ", crossed),
                           line("  still unconfirmed: ", unknown));
}

}  // namespace

bool ProbeReport::found() const {
  return tried.breached() ||
         (confirmed && std::ranges::any_of(*confirmed, [](const auto& detail) { return !detail.held; }));
}

std::string ProbeReport::text(Style style) const {
  return cordon::text::cat("server ", cordon::text::printable(server), ", backend ", tried.plan.backend, ": ", what,
                           "\n\n", findings_text(tried.plan, tried.findings, style),
                           confirmed ? confirmed_text(tried.plan, *confirmed) : std::string());
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
  if (confirmed) {
    out.key("confirmed").begin_object();
    for (const sandbox::ConfirmedDetail& detail : *confirmed) {
      out.member(detail.name, detail.held ? "held" : "breached");
    }
    out.end_object();
  }
  out.end_object();
  return out.take();
}

Result<ProbeReport> probe_policy(const ProbeRequest& request) {
  const sandbox::boundary::HeldSignals signals;
  Result<PlannedLaunch> planned = plan_launch({.caller = request.caller,
                                               .loaded = request.loaded,
                                               .client_command = request.client_command,
                                               .depth = LaunchRequest::Depth::show,
                                               .to_confirm = true});
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
  const bool from_template = trial.spec.from_template;
  if (from_template) {
    trial.spec.require.clear();
  }
  Result<TriedBoundary> tried = try_boundary(trial);
  if (!tried) {
    return std::unexpected(tried.error());
  }
  ProbeReport report{request.loaded.policy.server, "the boundary, tried from inside in place of the server",
                     std::move(*tried)};
  if (from_template) {
    report.confirmed = sandbox::boundary::conclude(report.tried.findings);
    const Status recorded = record_confirmation(request.caller, report.server, planned->plan,
                                                planned->prepared.fingerprint, *report.confirmed);
    if (!recorded) {
      return std::unexpected(recorded.error());
    }
  }
  return report;
}

}  // namespace cordon::app
