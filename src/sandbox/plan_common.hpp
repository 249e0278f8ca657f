// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every backend's plan has in common.

#include <span>

#include "base/error.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/select.hpp"

namespace cordon::sandbox {

// A plan with everything that does not depend on the backend; launch_failed when the program cannot be started,
// policy_invalid when the spec contradicts itself, unsupported_isolation when the account cannot be had.
Result<Plan> common_plan(const LaunchSpec& spec, const HostFacts& facts, std::string_view backend);

// Refusal of a backend from a trial that did not work.
Error refused(std::string_view backend, std::string_view requirement, const Trial& trial);

// What a backend with namespaces of its own and our stage inside gives; `by` names what builds the view.
Statements isolated_statements(const LaunchSpec& spec, const HostFacts& facts, std::string_view by,
                               std::span<const ViewEntry> view);

// The parts of it that need no namespace: our syscall filter, our resource limits (all but that of processes).
void say_filter(Statements& out, const LaunchSpec& spec, const HostFacts& facts);
void say_limits(Statements& out, const LaunchSpec& spec);

// Steps in the process that becomes the server, in the order that docs/isolation.md explains.
std::vector<Step> server_steps(const Plan& plan);

}  // namespace cordon::sandbox
