// SPDX-License-Identifier: Apache-2.0
#pragma once
// What our own process gives up from the start: it holds secrets. What goes once the server runs: sandbox/confine.hpp.

#include "base/error.hpp"

namespace cordon::run {

// Opens /dev/null for those of 0, 1 and 2 that are closed, so that no file of ours becomes stdout. First in main.
Status ensure_standard_descriptors();

// No core dumps, no ptrace and no /proc/PID/mem for other processes of the user. Before secrets are read. A child has
// this state until it execs, so a stage that writes to /proc/self before that must switch it back.
Status protect_memory();

}  // namespace cordon::run
