// SPDX-License-Identifier: Apache-2.0
#pragma once
// What npm says when it fails, in our words.

#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::app {

// What npm is told to start for repositories.
inline constexpr std::string_view kNoGit = "/nonexistent/git";

// launch_failed with cause and remedy, by the "code" lines of npm; else with the last lines that it printed.
// `package`: what was to be installed. `lines`: printable.
Error npm_failure(std::string_view package, int status, std::span<const std::string> lines);

}  // namespace cordon::app
