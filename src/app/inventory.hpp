// SPDX-License-Identifier: Apache-2.0
#pragma once
// inventory: what the configs of all clients start, and what is to be said about it.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/config_files.hpp"
#include "formats/reports/inventory.hpp"

namespace cordon::app {

// Is the program that an entry calls mcp-cordon this one? An absolute path that leads to our executable, or the bare
// name where PATH leads there.
bool is_our_program(const Caller& caller, const std::string& program);

formats::Inventory take_inventory(const Caller& caller, const std::vector<ConfigFile>& files);

}  // namespace cordon::app
