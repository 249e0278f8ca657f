// SPDX-License-Identifier: Apache-2.0
#pragma once
// A change of a config as a person sees it before agreeing to it.

#include <string>
#include <string_view>

#include "app/style.hpp"
#include "app/wrap.hpp"

namespace cordon::app {

// Client, file, server, the exact command, what becomes of it, the policy that would be made, warnings and the diff.
// Secrets that the config holds are masked in the diff, but nothing of the command is cut.
std::string show_step(const WrapPlan& plan, const WrapStep& step, Direction direction, Style style);

std::string show_untouched(const WrapPlan& plan, const Untouched& untouched);

// Lines that differ, with a line around them; of long lines what stands around the edits.
std::string show_diff(std::string_view before, const std::vector<clients::Edit>& edits, Style style);

}  // namespace cordon::app
