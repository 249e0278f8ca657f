// SPDX-License-Identifier: Apache-2.0
#pragma once
// `docker run …` in a policy becomes a launch by podman or docker, by our flags. What its own flags ask for has to be
// in the policy as well: nothing is added, and nothing silently left out.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// True when the policy names a backend that starts images.
bool starts_image(const policy::Policy& policy);

// For all other backends: policy_invalid when the command is docker's or podman's, since a client of an engine in a
// sandbox reaches nothing. (With `none` it may run.)
Status refuse_container_command(const policy::Policy& policy, const std::vector<std::string>& command);

// The folder in which a launch by an engine keeps its files; made where it is not there.
Result<std::string> scratch_folder(const Caller& caller);

// Sets image and argv of `spec`, and its cwd where the policy says nothing; `spec.mounts` are the policy's grants.
// policy_invalid for a command that cannot be translated, isolation_conflict for one that asks for more than the
// policy.
Status translate_container(const policy::Policy& policy, const Caller& caller, const std::vector<std::string>& command,
                           sandbox::LaunchSpec& spec);

// What the options of a client's `docker run` ask for, where launch.source stands for it: each has to be in the policy.
// Nothing to do for another command. isolation_conflict.
Status check_client_options(const policy::Policy& policy, const Caller& caller,
                            const std::vector<std::string>& client_command, const sandbox::LaunchSpec& spec);

}  // namespace cordon::app
