// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a person sees of an installation, for every command that makes one.

#include "app/install.hpp"
#include "app/policy_lookup.hpp"
#include "base/error.hpp"
#include "cli/command.hpp"

namespace cordon::cli {

// Lines on stderr; on a terminal also a count of what came.
app::InstallProgress progress_on_stderr();

// Installs, records, and pins what the policy left open; says what it did.
Status install_and_record(const app::Caller& caller, const app::LoadedPolicy& loaded);

// The same where a policy has a launch.source that nobody has installed for it yet.
Status install_if_missing(const app::Caller& caller, const app::PolicyChoice& choice);

}  // namespace cordon::cli
