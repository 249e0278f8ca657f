// SPDX-License-Identifier: Apache-2.0
#pragma once
// A launch by podman or docker, seen from outside the container and from its pid 1.
//
// The engine's client is a child of the keeper; the container is not: a daemon or a monitor has it. What ties it to us
// is the leash, as with every backend: pid 1 inside is this program, and it exits when the other end is gone, so that
// the container ends whoever dies outside. The engine's own records are removed by its client (--rm), and by name.

#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// Outside. A folder of this launch, readable by us alone: the socket through which pid 1 gets its descriptors, the
// syscall profile, and what covers are made of.
Outcome make_container_folder(Stage& stage);
// Starts the client. Its output is the tool's complaint.
std::expected<ToolProcess, Failure> start_container(Stage& stage);
// Somebody connected: gives what pid 1 needs, once. The folder is no longer needed then.
Outcome hand_over(Stage& stage);
// Lets go of pid 1, waits a moment for the client and the monitor, and removes the container by name if they did not
// end in order. `client`: one that has not been reaped yet, else -1 and its wait status (-1: not known). Gives the wait
// status of `client` if it was reaped here, else `status`.
int end_container(Stage& stage, pid_t client, int status);
void remove_container_folder(Stage& stage);
// By name, running or not; nothing when there is none.
void remove_container(const Stage& stage, const std::string& name);

// Inside, before anything else.
void receive_descriptors();

}  // namespace cordon::sandbox::stage
