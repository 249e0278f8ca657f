// SPDX-License-Identifier: Apache-2.0
#include "app/exposure.hpp"

#include <sys/stat.h>

#include <array>
#include <string_view>

#include "app/expand.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

// Names that make another program run, or trust, what is in them.
constexpr std::array<std::string_view, 25> kSteering = {
    ".git",      ".envrc",     ".vscode", ".cursor",       ".idea",
    ".zed",      ".mcp.json",  ".claude", ".codex",        ".gemini",
    ".windsurf", ".github",    ".husky",  ".npmrc",        ".bashrc",
    ".profile",  ".zshrc",     ".zshenv", ".bash_profile", ".ssh",
    ".config",   ".gitconfig", ".local",  ".claude.json",  ".pre-commit-config.yaml"};

bool is_there(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

}  // namespace

std::vector<std::string> exposure_notices(const policy::Policy& policy, const Caller& caller) {
  std::vector<std::string> out;
  for (const policy::Grant& grant : policy.isolation.write) {
    const Result<std::string> path = expand_home(grant.path, caller.home);
    if (!path) {
      continue;  // refused elsewhere
    }
    std::vector<std::string> found;
    if (is_within(caller.home, *path)) {
      found.emplace_back("the home folder");
    }
    for (const std::string_view name : kSteering) {
      if (is_there(text::cat(*path, '/', name))) {
        found.emplace_back(name);
      }
    }
    if (!found.empty()) {
      out.push_back(text::printable(text::cat("the server may write ", text::join(found, ", "), " in '", *path,
                                              "', which other programs run or trust; grant a folder without them"),
                                    2000));
    }
  }
  return out;
}

}  // namespace cordon::app
