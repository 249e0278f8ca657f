// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that pip makes of wheels.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::app {

// The folder of a tree that they lie in.
inline constexpr std::string_view kSitePackages = "site-packages";

// Takes out what differs from one installation of the same wheels to the next: programs, whose first line names the
// Python of the machine, notes of pip for itself, and files that were compiled elsewhere. `site`: sealed. Gives the
// programs among them that no entry point stands for.
Result<std::vector<std::string>> tidy_wheels(const std::string& site);

// The dist-info folder of a package; empty when there is none.
std::string dist_info_of(const std::string& site, std::string_view package);

}  // namespace cordon::app
