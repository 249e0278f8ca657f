// SPDX-License-Identifier: Apache-2.0
#pragma once
// `npx -y PACKAGE ARGUMENTS` or `uvx PACKAGE ARGUMENTS` of a client's config, and the launch.source that stands for it.

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"

namespace cordon::app {

struct PackageCommand {
  policy::Source source = {};             // as written: the version may be a tag, a range or nothing
  std::vector<std::string> command = {};  // [bin, ARGUMENT, …]
  std::vector<std::pair<std::string, std::string>> set = {};  // `env NAME=VALUE npx …`
};

// policy_invalid with the reason when launch.source cannot say the same: another kind of package, a URL, several
// packages, options that change what is fetched.
Result<PackageCommand> package_command(const std::vector<std::string>& command);

// Does this command of a client mean the launch of the policy? It does when the package, the program and the arguments
// are the same, and the policy sets what the command does; a version that the command names must be the policy's, a tag
// or a range may be any.
bool means_launch(const std::vector<std::string>& command, const policy::Launch& launch);

}  // namespace cordon::app
