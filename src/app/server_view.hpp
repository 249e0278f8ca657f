// SPDX-License-Identifier: Apache-2.0
#pragma once
// For rules that judge paths: how the server of a plan sees its files, and who looks there.

#include <sys/types.h>

#include <optional>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/policy/paths.hpp"
#include "core/policy/policy.hpp"
#include "run/server_files.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

// unsupported_isolation when the policy judges paths and the server of this plan runs where nobody can look.
Status admit_path_rules(const policy::Policy& policy, const sandbox::Plan& plan);

// `spare`: of a second launch that may take the place of the first. Nothing when the policy judges no paths. Call it
// while our own process is not confined yet.
Result<std::optional<run::ServerFiles>> look_into(const policy::Policy& policy, const Caller& caller,
                                                  const sandbox::Plan& plan, pid_t server, pid_t spare = -1);

// `files` is borrowed and may be null.
policy::ServerView server_view(const sandbox::Plan& plan, policy::PathJudge* files);

}  // namespace cordon::app
