// SPDX-License-Identifier: Apache-2.0
#pragma once
// Choosing a backend. Nothing gets weaker silently: the first backend in order that gives everything required, or a
// refusal; `none` only when it is named and says why.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

// Why a backend will not do.
struct Refusal {
  std::string backend = {};
  std::string requirement = {};  // guarantee.detail; empty: the backend as a whole
  std::string because = {};      // the place in the policy that asks for it
  std::string reason = {};       // code
  int error_number = 0;
  std::string hint = {};
};

// unsupported_isolation; where: the backend, detail: "requirement network.outside is not enforced (asked
// for by isolation.require): reason userns_denied (errno 1, …)",
// remedy: the hint.
Error to_error(const Refusal& refusal);

// The plan to launch. unsupported_isolation when a required guarantee is not enforced, policy_invalid when the spec
// contradicts itself or names a path that cannot be granted.
Result<Plan> select(const LaunchSpec& spec, const HostFacts& facts);

// One line of doctor: a backend with all its guarantees, whether or not it can be used here.
struct Assessment {
  std::string backend = {};
  bool usable = false;
  Error error = {};  // when not usable
  std::vector<Guarantee> guarantees = {};
};
std::vector<Assessment> assess(const LaunchSpec& spec, const HostFacts& facts);

}  // namespace cordon::sandbox
