// SPDX-License-Identifier: Apache-2.0
#include "app/doctor.hpp"

#include <algorithm>

#include "app/paths.hpp"
#include "app/planned_launch.hpp"
#include "base/text.hpp"
#include "sandbox/backend.hpp"
#include "sandbox/confine.hpp"
#include "sandbox/probe_host.hpp"

namespace cordon::app {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) {
    text.append(width - text.size(), ' ');
  }
  return text;
}

const sandbox::Guarantee* find(const sandbox::Assessment& assessment, std::string_view name) {
  const auto found = std::ranges::find(assessment.guarantees, name, &sandbox::Guarantee::name);
  return found == assessment.guarantees.end() ? nullptr : &*found;
}

std::string cell(const sandbox::Assessment& assessment, std::string_view guarantee, std::size_t width, Style style) {
  const sandbox::Guarantee* found = assessment.usable ? find(assessment, guarantee) : nullptr;
  if (found == nullptr) {
    return padded("-", width);
  }
  switch (found->strength) {
    case sandbox::Strength::enforced:
      return style.green(padded("yes", width));
    case sandbox::Strength::partial:
      return style.yellow(padded("partial", width));
    case sandbox::Strength::no:
      return style.red(padded("no", width));
  }
  return padded("-", width);
}

// Why something does not hold, one line each.
std::string reasons(const sandbox::Assessment& assessment) {
  if (!assessment.usable) {
    return text::cat("  ", assessment.backend,
                     ": cannot be used: ", text::printable(assessment.error.to_string(), 2000), '\n');
  }
  std::string out;
  for (const sandbox::Guarantee& guarantee : assessment.guarantees) {
    if (guarantee.strength != sandbox::Strength::enforced) {
      out += text::cat("  ", assessment.backend, ": ", guarantee.name, ": ", sandbox::name(guarantee.strength), ": ",
                       text::printable(guarantee.reason, 1000), '\n');
    }
  }
  return out;
}

// An assessment says what should work; only a start shows it.
void try_backend(const Caller& caller, sandbox::LaunchSpec spec, const sandbox::HostFacts& host,
                 sandbox::Assessment& assessment) {
  for (const sandbox::Backend* backend : sandbox::backends()) {
    if (backend->name == assessment.backend && assessment.usable) {
      spec.backend = backend->choice;
      spec.none_reason = "doctor";
      const Result<sandbox::Plan> plan = sandbox::select(spec, host);
      const Status tried = plan ? try_plan(caller, *plan) : std::unexpected(plan.error());
      if (!tried) {
        assessment.usable = false;
        assessment.error = tried.error();
      }
    }
  }
}

}  // namespace

std::string render_assessments(const std::vector<sandbox::Assessment>& assessments, Style style) {
  constexpr std::size_t kColumn = 14;
  std::string out = padded("guarantee", kColumn);
  for (const sandbox::Assessment& assessment : assessments) {
    out += padded(assessment.backend, kColumn);
  }
  out += '\n';
  for (const std::string_view guarantee : sandbox::kGuarantees) {
    out += padded(std::string(guarantee), kColumn);
    for (const sandbox::Assessment& assessment : assessments) {
      out += cell(assessment, guarantee, kColumn, style);
    }
    out += '\n';
  }
  std::string why;
  for (const sandbox::Assessment& assessment : assessments) {
    why += reasons(assessment);
  }
  if (!why.empty()) {
    out += text::cat("\nWhat does not hold, and why:\n", why);
  }
  return out;
}

std::string examine(const Caller& caller, Style style) {
  // What a policy without any wish of its own would get for a program of the system.
  sandbox::LaunchSpec spec;
  spec.argv = {resolved("/bin/true")};
  spec.environment = {"PATH=/usr/bin:/bin"};
  const Result<sandbox::HostFacts> host = sandbox::probe_host(spec, caller.home, sandbox::ProbeDepth::everything);
  if (!host) {
    return text::cat("This machine could not be examined: ", text::printable(host.error().to_string()), '\n');
  }
  std::vector<sandbox::Assessment> assessments = sandbox::assess(spec, *host);
  for (sandbox::Assessment& assessment : assessments) {
    try_backend(caller, spec, *host, assessment);
  }
  std::string out = render_assessments(assessments, style);
  out += text::cat("\nLandlock ABI: ", host->landlock_abi, host->landlock_abi == 0 ? " (none)" : "", "; started by ",
                   host->root() ? "root, servers run as uid " + std::to_string(host->server_uid)
                                : "uid " + std::to_string(host->uid),
                   "\nOur own process, once a server runs: ",
                   sandbox::describe({host->landlock_abi, host->seccomp && !host->architecture.empty()}), '\n');
  return out;
}

}  // namespace cordon::app
