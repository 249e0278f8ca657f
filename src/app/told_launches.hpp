// SPDX-License-Identifier: Apache-2.0
#pragma once
// Of which launches a person has been told that they are not the reviewed one, where the policy lets them pass
// (catalog.drift.launch: flag). What is said at every start is read by nobody, and then also not when it matters.

#include <string_view>

#include "app/caller.hpp"
#include "core/catalog/catalog.hpp"

namespace cordon::app {

// True, and remembered in the state folder, when this launch was not told yet of this policy and these bytes of a
// snapshot. Where nothing can be remembered, it is told each time.
bool first_told(const Caller& caller, std::string_view policy_file, std::string_view snapshot_digest,
                const catalog::LaunchFingerprint& now);

}  // namespace cordon::app
