// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dialog of a review on the terminal, for every command that ends in one.

#include "app/review_files.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"

namespace cordon::cli {

// Asks about every item. True when the person wants the result to be written.
bool talk_through(Terminal& terminal, const Invocation& invocation, app::OpenReview& open);

}  // namespace cordon::cli
