// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a probe has found out about a plan whose boundary is somebody else's. It counts for that plan, on that boot, and
// only in the direction that was looked at: a check that was not made confirms nothing, one that was crossed never
// does. Pure, but for current_boot_id(). The file: docs/isolation.md, "Confirmed by the probe".

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox {

// The plan without what is said of it: the same before and after a confirmation.
std::string confirmation_key(const Plan& plan);

// In a form that is the same for the same content, with a newline at the end.
std::string write_confirmation(const Confirmation& confirmation);
// message_malformed and its like, or policy_invalid for a file of another format or version, an unknown detail, one
// that is there twice.
Result<Confirmation> read_confirmation(const std::string& text);

// Of the running kernel; file_unreadable.
Result<std::string> current_boot_id();

// Says of each detail what the confirmation found: enforced or, where something was crossed, no. Another plan's, or
// another boot's, says nothing. `boot_id`: of now.
void apply_confirmation(Statements& statements, const Plan& plan, const Confirmation& confirmation,
                        std::string_view boot_id);

}  // namespace cordon::sandbox
