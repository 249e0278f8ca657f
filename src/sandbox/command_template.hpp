// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of BackendChoice::command. Pure.

#include <string>
#include <vector>

namespace cordon::sandbox {

// The item {command} becomes the words of the command, one item each; {cwd} in an item the folder to start in. Nothing
// is split or quoted: no shell sees it.
std::vector<std::string> expand_template(const std::vector<std::string>& items, const std::vector<std::string>& command,
                                         const std::string& cwd);

}  // namespace cordon::sandbox
