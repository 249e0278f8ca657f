// SPDX-License-Identifier: Apache-2.0
// Any bytes as a repository's config. Oracle: what is taken for a path is one that can be looked up, and reading twice
// gives the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "sandbox/git_config.hpp"
#include "sandbox/paths.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = [&] { return cordon::sandbox::paths_of_git_config(text, "/w/.git", "/w", "/home/u"); };
  const std::vector<std::string> paths = read();
  CORDON_ASSERT(paths == read());
  for (const std::string& path : paths) {
    CORDON_ASSERT(cordon::sandbox::is_normal_path(path));
  }
  (void)cordon::sandbox::uses_worktree_config(text);
  return 0;
}
