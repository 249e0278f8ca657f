// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which tools that went and which that came are probably one tool under two names.

#include <cstddef>
#include <utility>
#include <vector>

#include "core/catalog/catalog.hpp"

namespace cordon::catalog {

// Pairs of indices into `removed` and `added`, each used once, best first. Pairs that have too little in common, or too
// little text to tell, are none. Above kMaxRenamePairs combinations only definitions equal but for the name are found.
inline constexpr std::size_t kMaxRenamePairs = 40'000;
std::vector<std::pair<std::size_t, std::size_t>> find_renames(const std::vector<const PinnedTool*>& removed,
                                                              const std::vector<const PinnedTool*>& added);

}  // namespace cordon::catalog
