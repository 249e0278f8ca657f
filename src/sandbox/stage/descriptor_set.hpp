// SPDX-License-Identifier: Apache-2.0
#pragma once
// The descriptors that pid 1 of a container needs, in the order of their numbers inside. They travel through a socket,
// because an engine hands none down.

#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// Copies of all that pid 1 needs and the guard does not.
Outcome keep_for_init(Stage& stage);
Outcome send_to_init(const Stage& stage, int socket);

}  // namespace cordon::sandbox::stage
