// SPDX-License-Identifier: Apache-2.0
#pragma once
// Killing processes of a launch at any moment. That nothing stays behind shows in a subreaper without a child.

#include <chrono>
#include <string>
#include <string_view>

#include "sandbox/plan.hpp"

namespace cordon::test {

// Everything below us must end; else a text with `what` was hit when.
std::string all_gone(std::string_view what, std::chrono::microseconds delay);
// A launcher in a process of its own is killed after `delay`; everything that it started becomes ours.
std::string kill_launcher(const sandbox::Plan& plan, std::chrono::microseconds delay);
std::string kill_guard(const sandbox::Plan& plan, std::chrono::microseconds delay);

}  // namespace cordon::test
