// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of scenarios: what inputs abbreviate, and how actions are written.

#include <cstddef>
#include <string>
#include <string_view>

#include "core/gate/action.hpp"

namespace cordon::test {

std::size_t number(std::string_view text);
// ${a*3} → aaa, \xHH → one byte.
std::string expand(std::string_view text);
// As an expectation would say it; empty for what has a verb of its own.
std::string shown(const gate::Action& action);

}  // namespace cordon::test
