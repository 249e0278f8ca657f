// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands that fetch a package each time they start (`npx -y x`): without a network they hang for a minute and then
// say little. They are refused before anything is started, with the way out.

#include <optional>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "egress/plan.hpp"

namespace cordon::app {

struct Fetch {
  std::string tool = {};     // "npx", "uv run"
  std::string package = {};  // as written; empty when there is none
  std::string remedy = {};   // the way out
  bool python = false;       // from PyPI, and not from npm's registry
  bool installs = true;      // false: it is told not to, and asks the registry for what is not in its folder
};

// Nothing when the command fetches nothing, or is told not to (`--offline`, `--no-sync`, …). `executable`: the file
// that argv[0] leads to, since a command may name npx by another name, or be node with npm's own script.
// Looks through shells and programs that start another one.
std::optional<Fetch> fetches(const std::vector<std::string>& command, const std::string& executable);

// May it reach a registry that the user's own npm, uv or pip would ask?
bool reaches_registry(const Caller& caller, const Fetch& fetch, const egress::Rules& network);

}  // namespace cordon::app
