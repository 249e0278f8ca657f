// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the client of a container engine is started, by the probe and by the stage alike.

#include <string>
#include <vector>

namespace cordon::sandbox {

// All that podman and docker get: system folders as PATH, HOME, and the caller's runtime folder where there is one.
// Nothing of the caller's environment: it could name another engine.
std::vector<std::string> container_client_environment(const std::string& home);

}  // namespace cordon::sandbox
