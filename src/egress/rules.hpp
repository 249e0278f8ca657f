// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what a policy says to what is enforced.

#include "core/policy/host_list.hpp"
#include "egress/plan.hpp"

namespace cordon::egress {

// `network` has been read from a policy, so that its hosts are canonical.
Rules rules_of(const policy::Network& network);

}  // namespace cordon::egress
