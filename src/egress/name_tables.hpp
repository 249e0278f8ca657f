// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known about names by tables alone: IDNA. The public suffixes are in name.hpp.

#include <optional>
#include <string>

namespace cordon::egress {

// The name in A-labels (IDNA 2008, no transitional mapping). Nothing for what IDNA refuses, and for an A-label that is
// not the spelling of what it stands for.
std::optional<std::string> to_a_labels(const std::string& name);

}  // namespace cordon::egress
