// SPDX-License-Identifier: Apache-2.0
#pragma once
// Differences of what is no tool: prompts, resources and resource templates, and the interfaces that tools name.

#include <vector>

#include "core/catalog/cues.hpp"
#include "core/catalog/diff.hpp"

namespace cordon::catalog {

// Items "prompt", "resource" and "resource_template", named by their key, and "interface", named by the tool.
std::vector<ItemChange> item_changes(const Snapshot& before, const Snapshot& after, const CueNames& names);

}  // namespace cordon::catalog
