// SPDX-License-Identifier: Apache-2.0
#include "sandbox/steering.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"
#include "sandbox/paths.hpp"

namespace cordon::sandbox {
namespace {

constexpr SteeringName held(std::string_view path) { return {path, WhenAbsent::hold_folder}; }
constexpr SteeringName left(std::string_view path) { return {path}; }

// Folders and not files are put in the place of absent ones, also of absent files: version control does not see an
// empty folder, rmdir takes it away only as long as it is empty, and no reader takes it for a configuration. Only what
// is looked for by this very name is put there; instructions for agents, in whatever spelling, are covered where they
// are.
constexpr std::array kFolderNames = std::to_array<SteeringName>({
    // repositories, shells, hooks
    held(".git"),
    held(".envrc"),
    left(".husky"),
    left(".githooks"),
    left(".pre-commit-config.yaml"),
    left("lefthook.yml"),
    // clients of MCP, agents, editors
    held(".mcp.json"),
    held("opencode.json"),
    held(".amazonq"),
    held(".claude"),
    held(".cline"),
    held(".codex"),
    held(".continue"),
    held(".cursor"),
    held(".devcontainer"),
    held(".gemini"),
    held(".idea"),
    held(".kiro"),
    held(".opencode"),
    held(".roo"),
    held(".vscode"),
    held(".windsurf"),
    held(".zed"),
    left(".aider.conf.yml"),
    left(".claude.json"),
    left(".devcontainer.json"),
    left("claude_desktop_config.json"),
    left("opencode.jsonc"),
    // instructions that agents obey
    left(".clinerules"),
    left(".cursorrules"),
    left(".github/copilot-instructions.md"),
    left(".github/instructions"),
    left(".roomodes"),
    left(".windsurfrules"),
    left("AGENTS.md"),
    left("CLAUDE.local.md"),
    left("CLAUDE.md"),
    left("GEMINI.md"),
});

// commondir names the folder that holds config and hooks: whoever may make it needs neither. git dies of a folder of
// that name, and of an empty file, but "." is what it does without.
constexpr std::array kGitNames = std::to_array<SteeringName>({
    held("hooks"),
    {"config", WhenAbsent::hold_file},
    {"commondir", WhenAbsent::hold_file, ".\n"},
    left("config.worktree"),
    // What `git rebase --continue` and its like run next: `exec` lines among them. Never put there, since git takes the
    // mere folder for a rebase under way.
    left("rebase-apply"),
    left("rebase-merge"),
    left("sequencer"),
});

constexpr std::array kHomeNames = std::to_array<std::string_view>({
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cargo/config.toml",
    ".codeium",
    ".config/Claude",
    ".config/Code",
    ".config/Cursor",
    ".config/VSCodium",
    ".config/Windsurf",
    ".config/autostart",
    ".config/direnv",
    ".config/emacs",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/goose",
    ".config/nvim",
    ".config/opencode",
    ".config/pip",
    ".config/systemd",
    ".config/tmux",
    ".config/zed",
    ".emacs",
    ".emacs.d",
    ".gitconfig",
    ".inputrc",
    ".local/bin",
    ".local/share/applications",
    ".npmrc",
    ".pam_environment",
    ".profile",
    ".ssh",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
});

// `name` as whole components at the end of `path`, or with more behind it.
bool holds(std::string_view path, std::string_view name) {
  const std::string wanted = text::cat("/", name);
  for (std::size_t at = path.find(wanted); at != std::string_view::npos; at = path.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    if (end == path.size() || path[end] == '/') {
      return true;
    }
  }
  return false;
}

}  // namespace

std::span<const SteeringName> folder_names() { return kFolderNames; }
std::span<const SteeringName> git_names() { return kGitNames; }
std::span<const std::string_view> home_names() { return kHomeNames; }

bool is_steering(std::string_view path) {
  // What lies in .git is the repository's data, but for the few names that steer it.
  const auto in_git = [path](const SteeringName& name) { return holds(path, text::cat(".git/", name.path)); };
  const auto in_folder = [path](const SteeringName& name) { return name.path != ".git" && holds(path, name.path); };
  return std::ranges::any_of(kGitNames, in_git) || std::ranges::any_of(kFolderNames, in_folder) ||
         std::ranges::any_of(kHomeNames, [path](std::string_view name) { return holds(path, name); });
}

}  // namespace cordon::sandbox
