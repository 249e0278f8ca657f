// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of -v and --mount. Pure; errors carry detail and remedy only.

#include <optional>
#include <string>

#include "sandbox/container_command.hpp"

namespace cordon::sandbox {

// Nothing: a mount that is there anyway (memory at /tmp).
Result<std::optional<ContainerMount>> read_volume(const std::string& value);
Result<std::optional<ContainerMount>> read_mount(const std::string& value);

}  // namespace cordon::sandbox
