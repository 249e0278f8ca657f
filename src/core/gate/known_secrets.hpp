// SPDX-License-Identifier: Apache-2.0
#pragma once
// Secrets by their form, and the values of this launch's own ones.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mask.hpp"

namespace cordon::gate {

// `text` with every secret in it replaced by its kind, by "[secret]" or by as many asterisks; the kinds go to `kinds`,
// and `found` grows by one for each. Never longer than `text`.
std::string without_secrets(std::string_view text, const std::vector<NamedSecret>& own, std::size_t& found,
                            std::set<std::string>& kinds);

}  // namespace cordon::gate
