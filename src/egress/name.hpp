// SPDX-License-Identifier: Apache-2.0
#pragma once
// Host names: one canonical spelling, and everything that is none refused before anything is compared. What one program
// reads as the end of a name and another does not (NUL, %, @, :) is how allow lists are got around.

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::egress {

inline constexpr std::size_t kMaxNameBytes = 253;
inline constexpr std::size_t kMaxLabelBytes = 63;

// Lower case, without one dot at the end; letters, digits, - and _ in labels. Nothing for any other byte, for an empty
// or over-long label, a hyphen at the edge of one, and for what some program would read as an address (a last label of
// digits or 0x…). For what comes from the server: no letters of other scripts.
std::optional<std::string> canonical_host(std::string_view text);

// The same for what a person writes in a policy: names in other scripts become their A-labels, and an A-label has to be
// one. The error says what is wrong with the name.
Result<std::string> canonical_policy_host(std::string_view text);

// Under which anybody may have a name (com, co.uk, github.io), and every single label. Also when the list is missing.
bool is_public_suffix(std::string_view canonical);

// Is `name` below `suffix` (not the same)? Both canonical.
bool is_below(std::string_view name, std::string_view suffix);

}  // namespace cordon::egress
