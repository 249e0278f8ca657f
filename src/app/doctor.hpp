// SPDX-License-Identifier: Apache-2.0
#pragma once
// doctor: what this machine can enforce, found out by trying.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/style.hpp"
#include "sandbox/select.hpp"

namespace cordon::app {

// One table row per guarantee, one column per backend, then the reasons. Pure.
std::string render_assessments(const std::vector<sandbox::Assessment>& assessments, Style style);

// Starts /bin/true under each usable backend and takes back what a failed start disproves.
std::string examine(const Caller& caller, Style style);

}  // namespace cordon::app
