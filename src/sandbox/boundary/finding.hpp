// SPDX-License-Identifier: Apache-2.0
#pragma once
// boundary: a plan's promises, tried from inside. canaries.hpp plants, look.hpp runs the probe in place of the server,
// and here what it prints is read and held against the plan. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox::boundary {

enum class Verdict : std::uint8_t {
  held,
  breached,        // the plan says it cannot be crossed, and it was
  expected,        // crossed, and the plan itself says partial or no
  blocked,         // denied although the server may do it: no breach, but a server will not work
  not_applicable,  // not tried; `reason` says why
};
std::string_view name(Verdict verdict);

// One line of the probe (docs/formats/probe.md).
struct Finding {
  std::string id = {};
  std::string guarantee = {};  // or "guarantee.detail"
  Verdict verdict = Verdict::not_applicable;
  std::string expected = {};
  std::string got = {};
  int error_number = 0;
  std::string mechanism = {};
  std::string attempt = {};  // which one decided
  int attempts = 0;
  std::string reason = {};  // not_applicable: why; expected: the plan's reason
};

// launch_failed unless the text is the whole output of a probe that came to its end: then nothing can be concluded,
// least of all that something held. Verdicts are the probe's own: nothing is `expected` yet.
Result<std::vector<Finding>> read_findings(std::string_view output);

// What the plan says about a check's guarantee: the detail, else the guarantee that it belongs to; null: nothing.
const Guarantee* promise_for(const Plan& plan, std::string_view guarantee);

// A breach of what the plan does not promise becomes `expected`.
void judge(std::vector<Finding>& findings, const Plan& plan);

// What of a plan whose boundary is somebody else's is now known: the details that had checks, of which none was crossed
// (held) or one was. A detail with a check that could not be made where it had to be is in neither.
std::vector<ConfirmedDetail> conclude(std::span<const Finding> findings);

// The part before the dot.
std::string_view guarantee_group(std::string_view guarantee);

std::size_t count(std::span<const Finding> findings, Verdict verdict);

}  // namespace cordon::sandbox::boundary
