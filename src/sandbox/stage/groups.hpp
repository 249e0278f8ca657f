// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control groups of a launch: made by the outer stage, entered by the process that becomes the server's tree, removed
// by a watcher that outlives all others.

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// What the watcher has to know, before any of it is there: killed in between, we leave no group behind.
struct WatchedGroup {
  std::string path = {};
  UniqueFd out_of_memory = {};  // version 1: becomes readable when there is no memory left
  bool unified = false;
  bool memory = false;
  bool processes = false;
};

// Starts the process that waits for the end of the launch (or for the end of its memory), ends what is left in the
// groups, removes them and says so.
Outcome start_group_watch(Stage& stage, const std::vector<WatchedGroup>& groups);

// Goes into the groups, and makes sure of it. For the child that becomes the tree.
Outcome enter_groups(Stage& stage);

// Every process but the guard has to let go of these, or the watcher would wait for it.
void let_go_of_groups(Stage& stage);

// At the end of the guard: they are gone.
void wait_for_groups(Stage& stage);

}  // namespace cordon::sandbox::stage
