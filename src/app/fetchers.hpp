// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands that fetch a package each time they start (`npx -y x`): without a network they hang for a minute and then
// say little. They are refused before anything is started, with the way out.

#include <optional>
#include <string>
#include <vector>

namespace cordon::app {

struct Fetch {
  std::string tool = {};     // "npx", "uv run"
  std::string package = {};  // as written; empty when there is none
  std::string remedy = {};   // the way out
};

// Nothing when the command fetches nothing, or is told not to (`--offline`, `--no-install`, …). `executable`: the file
// that argv[0] leads to, since a command may name npx by another name, or be node with npm's own script.
std::optional<Fetch> fetches(const std::vector<std::string>& command, const std::string& executable);

}  // namespace cordon::app
