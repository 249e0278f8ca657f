// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carrying a plan out: starts the stage helper, which reports on a status pipe and then becomes the server.

#include <sys/types.h>

#include <string>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox {

// A started tree. Closing `lifeline` (or our death) makes the kernel end all of it.
struct Launched {
  pid_t pid = -1;       // direct child: the outermost stage process (or the server itself with `none`); wait for it
  UniqueFd server_in;   // write end of the server's stdin
  UniqueFd server_out;  // read end of its stdout
  UniqueFd server_err;  // read end of its stderr
  UniqueFd status;      // read end: one line "step: detail" on failure, end of file without a byte once exec succeeded
  UniqueFd lifeline;
};

// Starts the plan and returns at once; read `status` to learn how it went. launch_failed when not even that worked.
Result<Launched> launch(const Plan& plan);

}  // namespace cordon::sandbox
