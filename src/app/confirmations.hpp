// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where confirmations lie: one file per server in the state folder, the last one counts.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "sandbox/confirmation.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// For the probe, when it has come to its end under exactly this plan: what became of each detail that it tried.
// file_untrusted, file_unreadable.
Status record_confirmation(const Caller& caller, const std::string& server, const sandbox::Plan& plan,
                           const catalog::LaunchFingerprint& program, std::vector<sandbox::ConfirmedDetail> found);

// Adds to the facts what is known of this server, for backends that depend on it. A file that is missing confirms
// nothing, and neither does one about other content of the template's program; one that is not ours or not readable is
// an error, since somebody meddled with it.
Status add_confirmation(const Caller& caller, const std::string& server, const sandbox::LaunchSpec& spec,
                        const catalog::LaunchFingerprint& program, sandbox::HostFacts& facts);

}  // namespace cordon::app
