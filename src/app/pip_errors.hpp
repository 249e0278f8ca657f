// SPDX-License-Identifier: Apache-2.0
#pragma once
// What pip says when it fails, and what that means for whoever called install.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::app {

// `lines`: the last that pip printed. `is_ours`: is this one of the hosts that it may reach? launch_failed.
Error pip_failure(std::string_view package, int status, std::span<const std::string> lines,
                  const std::function<bool(std::string_view host)>& is_ours);

}  // namespace cordon::app
