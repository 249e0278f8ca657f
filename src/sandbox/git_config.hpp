// SPDX-License-Identifier: Apache-2.0
#pragma once
// The little of git's configuration that says where hooks and further settings lie. Not a full reader: what it takes
// for a path too much is covered too much.

#include <string>
#include <string_view>
#include <vector>

namespace cordon::sandbox {

// core.hooksPath (seen from the working folder), include.path and includeIf.*.path (seen from the config's folder),
// absolute and normal. `home` stands for "~/"; another user's home is left out.
std::vector<std::string> paths_of_git_config(std::string_view config, const std::string& folder,
                                             const std::string& working, const std::string& home);

// extensions.worktreeConfig: config.worktree is read as well.
bool uses_worktree_config(std::string_view config);

}  // namespace cordon::sandbox
