// SPDX-License-Identifier: Apache-2.0
#include "planted.hpp"

#include <filesystem>
#include <stdexcept>

#include "base/text.hpp"
#include "sandbox/probe_host.hpp"

namespace cordon::test {

using sandbox::boundary::Verdict;

Planted::Planted() {
  auto planted = sandbox::boundary::Canaries::plant(folder_.path(), CORDON_TEST_PROBE);
  if (!planted) {
    throw std::runtime_error(planted.error().to_string());
  }
  canaries_ = std::move(*planted);
}

sandbox::Plan Planted::plan(sandbox::BackendChoice backend,
                            const std::function<void(sandbox::LaunchSpec&)>& edit) const {
  sandbox::LaunchSpec spec = spec_for({"/bin/true"}, backend);
  spec.default_limits = {.memory_bytes = 1'000'000'000,
                         .processes = 64,
                         .open_files = 256,
                         .file_size_bytes = 50'000'000,
                         .cpu_seconds = 60};
  spec = canaries_->beside(std::move(spec), sandbox::boundary::Grants::nested);
  if (edit) {
    edit(spec);
  }
  const auto facts = sandbox::probe_host(spec, "");
  if (!facts) {
    throw std::runtime_error(facts.error().to_string());
  }
  auto plan = canaries_->plan(spec, *facts);
  if (!plan) {
    throw std::runtime_error(plan.error().to_string());
  }
  return std::move(*plan);
}

Look look(const sandbox::Plan& plan, const Planted& planted, int trace_fd) {
  Look out;
  // Made by the look before this one; found again, it would be a finding whatever the plan.
  std::error_code ignored;
  std::filesystem::remove_all(planted / "write/folder", ignored);
  auto findings = sandbox::boundary::look(plan, planted.canaries(),
                                          {.launch = {.trace_fd = trace_fd, .stage_path = CORDON_TEST_STAGE}});
  if (!findings) {
    out.error = findings.error().to_string();
    return out;
  }
  out.findings = std::move(*findings);
  for (const auto& finding : out.findings) {
    out.attempts += finding.attempts;
  }
  return out;
}

std::string wrong_in(const Look& look) {
  std::string wrong = look.error.empty() ? std::string() : text::cat(look.error, "\n");
  for (const auto& finding : look.findings) {
    if (finding.verdict == Verdict::breached || finding.verdict == Verdict::blocked) {
      wrong += text::cat(name(finding.verdict), " ", finding.id, ": ", finding.attempt, ": expected ", finding.expected,
                         ", got ", finding.got, "\n");
    }
  }
  return wrong;
}

}  // namespace cordon::test
