// SPDX-License-Identifier: Apache-2.0
#pragma once
// check, on the machine that is to run the server: what `run` would refuse, as far as it can be known without starting
// anything, asking for a secret or running a program of the policy's.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/session_context.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct CheckFinding {
  Error error = {};
  bool stops = true;  // else a launch goes on all the same, and it is only worth knowing
};

// Of a policy whose text has no fault: the file itself, grants, command, isolation, secrets, snapshot, and whether the
// launch is the reviewed one. All that can be told apart; empty when nothing stands in the way.
std::vector<CheckFinding> check_launch(const Caller& caller, const LoadedPolicy& loaded);

}  // namespace cordon::app
