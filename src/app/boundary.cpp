// SPDX-License-Identifier: Apache-2.0
#include "app/boundary.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "run/files.hpp"
#include "sandbox/probe_host.hpp"
#include "sandbox/select.hpp"

namespace cordon::app {
namespace {

namespace boundary = sandbox::boundary;

constexpr std::uint64_t kMaxProgramBytes = 256'000'000;
constexpr std::size_t kShownBytes = 300;

constexpr std::array kVerdicts = {boundary::Verdict::held, boundary::Verdict::breached, boundary::Verdict::expected,
                                  boundary::Verdict::blocked, boundary::Verdict::not_applicable};

std::string padded(std::string text, std::size_t width) {
  text.append(text.size() < width ? width - text.size() : 1, ' ');
  return text;
}

std::string_view word(boundary::Verdict verdict) {
  return verdict == boundary::Verdict::not_applicable ? std::string_view("not applicable") : name(verdict);
}

std::string painted(boundary::Verdict verdict, Style style) {
  const std::string text = padded(std::string(word(verdict)), 15);
  switch (verdict) {
    case boundary::Verdict::held:
      return style.green(text);
    case boundary::Verdict::breached:
      return style.red(text);
    case boundary::Verdict::expected:
    case boundary::Verdict::blocked:
      return style.yellow(text);
    case boundary::Verdict::not_applicable:
      return text;
  }
  return text;
}

// What decided, and what the kernel said to it.
std::string explanation(const boundary::Finding& finding) {
  const std::string attempt = text::printable(finding.attempt, kShownBytes);
  const std::string got = text::printable(finding.got, kShownBytes);
  const std::string reason = text::printable(finding.reason, kShownBytes);
  const char* error = finding.error_number > 0 ? ::strerrorname_np(finding.error_number) : nullptr;
  switch (finding.verdict) {
    case boundary::Verdict::held:
      return text::cat(finding.mechanism, finding.attempts > 1 ? text::cat(", ", finding.attempts, " attempts") : "");
    case boundary::Verdict::breached:
    case boundary::Verdict::blocked:
      return text::cat(attempt, ": ", got, error != nullptr && got != error ? text::cat(" (", error, ")") : "",
                       ", expected ", text::printable(finding.expected, kShownBytes));
    case boundary::Verdict::expected:
      return text::cat(attempt, ": ", got, " (", reason, ")");
    case boundary::Verdict::not_applicable:
      return reason;
  }
  return {};
}

std::string line_of(const boundary::Finding& finding, Style style) {
  return text::cat("  ", painted(finding.verdict, style), padded(finding.id, 32), explanation(finding), '\n');
}

std::string heading(const sandbox::Plan& plan, std::string_view guarantee, Style style) {
  const sandbox::Guarantee* promise = sandbox::find_guarantee(plan, guarantee);
  if (promise == nullptr) {
    return text::cat(style.bold(guarantee), '\n');
  }
  return text::cat(style.bold(guarantee), ": ", sandbox::name(promise->strength), " (",
                   text::printable(promise->reason, kShownBytes), ")\n");
}

// The plan of the server with the probe in its place; without masks where a backend has none.
Result<sandbox::Plan> plan_probe(const BoundaryTrial& trial, const boundary::Canaries& canaries,
                                 std::string_view lingering = {}) {
  std::optional<Error> first;
  for (const boundary::Grants grants : {boundary::Grants::masked, boundary::Grants::plain}) {
    const sandbox::LaunchSpec spec = canaries.beside(trial.spec, grants);
    const Result<sandbox::HostFacts> host = sandbox::probe_host(spec, trial.caller.home);
    if (!host) {
      return std::unexpected(host.error());
    }
    Result<sandbox::Plan> plan = canaries.plan(spec, *host, lingering);
    if (plan) {
      return plan;
    }
    first = first ? first : plan.error();
  }
  return std::unexpected(*first);
}

// Whether all ends with the launch is for our own stage to see to; of others it is asked.
Status look_for_what_is_left(const BoundaryTrial& trial, const boundary::Canaries& canaries, const std::string& stage,
                             std::vector<boundary::Finding>& findings) {
  for (const bool killed : {false, true}) {
    const Result<sandbox::Plan> plan = plan_probe(trial, canaries, killed ? "killed" : "at_end");
    if (!plan) {
      return std::unexpected(plan.error());
    }
    Result<boundary::Finding> finding =
        boundary::left_behind(*plan, canaries, {.launch = {.stage_path = stage}}, killed);
    if (!finding) {
      return std::unexpected(finding.error());
    }
    findings.push_back(std::move(*finding));
    boundary::judge(findings, *plan);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<boundary::Canaries>> plant_canaries(const Caller& caller, CanaryPlace place,
                                                           boundary::Parts parts) {
  const std::string probe = caller.probe_path();
  if (const Result<run::OpenedFile> trusted = run::open_trusted(probe, {.max_bytes = kMaxProgramBytes}); !trusted) {
    return std::unexpected(trusted.error());
  }
  std::string parent = "/var/tmp";  // sticky, and what is made in it is made exclusively
  if (place == CanaryPlace::state_folder || caller.uid != 0) {
    Result<std::string> made = run::ensure_private_folder(caller.state_folder() + "/probe");
    if (!made) {
      return std::unexpected(made.error());
    }
    parent = std::move(*made);
  }
  return boundary::Canaries::plant(parent, probe, parts);
}

Result<TriedBoundary> try_boundary(const BoundaryTrial& trial) {
  const std::string stage = trial.caller.stage_path();
  if (const Result<run::OpenedFile> trusted = run::open_trusted(stage, {.max_bytes = kMaxProgramBytes}); !trusted) {
    return std::unexpected(trusted.error());
  }
  if (!trial.spec.scratch.empty()) {
    if (const Result<std::string> made = run::ensure_private_folder(trial.spec.scratch); !made) {
      return std::unexpected(made.error());
    }
  }
  CanaryPlace place = CanaryPlace::state_folder;
  for (;;) {
    const auto canaries = plant_canaries(trial.caller, place, boundary::Parts::all);
    if (!canaries) {
      return std::unexpected(canaries.error());
    }
    Result<sandbox::Plan> plan = plan_probe(trial, **canaries);
    if (!plan) {
      return std::unexpected(plan.error());
    }
    if (!plan->own_namespaces && plan->switch_user && place == CanaryPlace::state_folder) {
      place = CanaryPlace::reachable;
      continue;
    }
    if (place == CanaryPlace::reachable) {
      if (const Status given = (*canaries)->give_to(plan->uid, plan->gid); !given) {
        return std::unexpected(given.error());
      }
    }
    if (trial.alter) {
      trial.alter(*plan);
    }
    Result<std::vector<boundary::Finding>> findings =
        boundary::look(*plan, **canaries, {.launch = {.stage_path = stage}, .interrupted = trial.interrupted});
    if (!findings) {
      return std::unexpected(findings.error());
    }
    if (trial.spec.from_template) {
      if (const Status left = look_for_what_is_left(trial, **canaries, stage, *findings); !left) {
        return std::unexpected(left.error());
      }
    }
    return TriedBoundary{std::move(*plan), std::move(*findings)};
  }
}

std::string summary_line(std::span<const boundary::Finding> findings) {
  std::string out;
  for (const boundary::Verdict verdict : kVerdicts) {
    const std::size_t number = boundary::count(findings, verdict);
    if (number > 0 || verdict == boundary::Verdict::held || verdict == boundary::Verdict::breached) {
      out += text::cat(out.empty() ? "" : ", ", number, " ", word(verdict));
    }
  }
  return out;
}

std::string findings_text(const sandbox::Plan& plan, std::span<const boundary::Finding> findings, Style style) {
  std::string out;
  const auto group = [](const boundary::Finding& finding) {
    return std::string(boundary::guarantee_group(finding.guarantee));
  };
  for (const std::string_view guarantee : sandbox::kGuarantees) {
    std::string lines;
    for (const boundary::Finding& finding : findings) {
      lines += group(finding) == guarantee ? line_of(finding, style) : "";
    }
    out += lines.empty() ? "" : heading(plan, guarantee, style) + lines;
  }
  out += text::cat('\n', summary_line(findings), '\n');
  if (boundary::count(findings, boundary::Verdict::breached) > 0) {
    out += "The plan says that these cannot be crossed, and they were:\n";
  }
  for (const boundary::Finding& finding : findings) {
    out += finding.verdict == boundary::Verdict::breached ? line_of(finding, style) : "";
  }
  return out;
}

void write_findings(json::Writer& out, std::span<const boundary::Finding> findings) {
  out.begin_array();
  for (const boundary::Finding& finding : findings) {
    out.begin_object().member("id", finding.id).member("guarantee", finding.guarantee);
    out.member("verdict", name(finding.verdict)).member("expected", finding.expected).member("got", finding.got);
    out.member_int("errno", finding.error_number).member("mechanism", finding.mechanism);
    out.member("attempt", finding.attempt).member_int("attempts", finding.attempts).member("reason", finding.reason);
    out.end_object();
  }
  out.end_array();
}

void write_summary(json::Writer& out, std::span<const boundary::Finding> findings) {
  out.begin_object();
  for (const boundary::Verdict verdict : kVerdicts) {
    out.member_int(name(verdict), static_cast<std::int64_t>(boundary::count(findings, verdict)));
  }
  out.end_object();
}

}  // namespace cordon::app
