// SPDX-License-Identifier: Apache-2.0
#pragma once
// For the processes that stay: the guard outside and init need no capabilities once everything is set up.

#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// Needs a capability: before those are cleared, or before root stops being root.
Outcome empty_bounding_set();

// Permitted, effective and inheritable become empty.
Outcome clear_capabilities();

}  // namespace cordon::sandbox::stage
