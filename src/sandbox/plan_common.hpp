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

// The syscall filter of a plan, where there can be one.
void choose_filter(Plan& plan, const LaunchSpec& spec, const HostFacts& facts);

// Namespace, doors and statements of a plan that lets hosts be reached. What plan_doors() says.
Status choose_network(Plan& plan, const LaunchSpec& spec);
// network.hosts and network.names, where our stage opens the doors.
void say_network(Statements& out, const LaunchSpec& spec);

// The control groups of a plan, where the policy limits memory and the host lets us make them.
void choose_groups(Plan& plan, const LaunchSpec& spec, const HostFacts& facts);

// Refusal of a backend from a trial that did not work.
Error refused(std::string_view backend, std::string_view requirement, const Trial& trial);

// What a backend with namespaces of its own and our stage inside gives; `by` names what builds the view.
Statements isolated_statements(const LaunchSpec& spec, const HostFacts& facts, std::string_view by,
                               std::span<const ViewEntry> view);

// What our stage gives where paths, processes and ipc of the machine are in view: by refusing, not by hiding.
Statements shared_statements(const LaunchSpec& spec, const HostFacts& facts, const Plan& plan);

// A plan that shows the machine's own paths, closed by Landlock and our filter: view and fields, without guarantees and
// steps. unsupported_isolation where the kernel has no Landlock.
Result<Plan> shared_plan(const LaunchSpec& spec, const HostFacts& facts, std::string_view backend);
// Steps around a tool that starts our stage in it, where that is not pid 1.
PlanSteps tool_steps(const Plan& plan);

// The parts of it that need no namespace: our syscall filter, our resource limits (all but that of processes).
void say_filter(Statements& out, const LaunchSpec& spec, const HostFacts& facts);
// `groups`: none where we make none.
void say_limits(Statements& out, const LaunchSpec& spec, const GroupFacts& groups);

// ipc.unix_sockets: can a socket of the outside be reached that is not listed?
Guarantee unix_socket_guarantee(const LaunchSpec& spec, const HostFacts& facts, std::span<const ViewEntry> view);
// Less than allowed: nothing but the syscall filter can stop it.
UnixSockets allowed_unix_sockets(const LaunchSpec& spec, const HostFacts& facts, std::span<const ViewEntry> view);

// filesystem.steering: is what steers other programs covered wherever the server can write?
Guarantee steering_guarantee(const HostFacts& facts, std::span<const ViewEntry> view);

// `places` when the plan puts something somewhere, else nothing. It comes before `sources`.
std::vector<Step> place_steps(const Plan& plan);

// Steps in the process that becomes the server, in the order that docs/isolation.md explains.
std::vector<Step> server_steps(const Plan& plan);

}  // namespace cordon::sandbox
