// SPDX-License-Identifier: Apache-2.0
#pragma once
// Servers that a reviewed policy is shipped for, told by what a command runs.

#include <span>
#include <string>
#include <string_view>

namespace cordon::clients {

// Name of the shipped policy; empty when there is none. By the package that the command fetches, or by the folder of
// that package in the path of its script.
std::string_view shipped_policy_for(std::span<const std::string> command);

}  // namespace cordon::clients
