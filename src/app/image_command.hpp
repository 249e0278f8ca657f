// SPDX-License-Identifier: Apache-2.0
#pragma once
// `docker run OPTIONS IMAGE ARGUMENTS` of a client's config, and the launch.source that stands for it.

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/container_command.hpp"

namespace cordon::app {

struct ImageCommand {
  policy::Source source = {};             // as written: without a digest where the command has none
  std::vector<std::string> command = {};  // [NAME, ARGUMENT, …]
  sandbox::ContainerCommand asked = {};   // what the options ask for, which the policy has to say as well
};

// Does it start a container by podman or docker, and which image? Looks through `cmd /c`, `env` and their like.
bool is_image_command(const std::vector<std::string>& command);

// policy_invalid, naming the word, for options that take a wall away, that are not known, or that no policy says.
Result<ImageCommand> image_command(const std::vector<std::string>& command);

// The same image and arguments as those of the policy. A digest or a tag that the command names must be the policy's;
// its options are compared when it is started.
bool means_image(const std::vector<std::string>& command, const policy::Launch& launch);

}  // namespace cordon::app
