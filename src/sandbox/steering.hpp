// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of files and folders by which other programs find what they run or obey. Whoever may write one steers the
// client, the editor, git or the shell of the user, outside of any sandbox. The one table of them; what becomes of them
// below a write grant: docs/isolation.md, "What steers other programs".

#include <cstdint>
#include <span>
#include <string_view>

namespace cordon::sandbox {

enum class WhenAbsent : std::uint8_t {
  leave,
  hold_folder,  // an empty folder is put there for the time of the launch
  hold_file,    // a file that means the same as none
};

struct SteeringName {
  std::string_view path = {};  // relative, at most two components
  WhenAbsent absent = WhenAbsent::leave;
  std::string_view text = {};  // of a file that is put there
};

// In a granted folder, and in the working folder of each repository in it.
std::span<const SteeringName> folder_names();
// In git's own folder (.git, a bare repository, one below .git/modules or .git/worktrees).
std::span<const SteeringName> git_names();
// In a home folder, besides folder_names(). Never put there: an empty ~/.bash_profile would hide ~/.profile.
std::span<const std::string_view> home_names();

// What has this path is, or lies in, something that steers. Text only: `path` is normal.
bool is_steering(std::string_view path);

// Every folder and file that was put somewhere has this time of last change (seconds since 1970), so that it can be
// told from one that somebody made or filled.
inline constexpr std::int64_t kHeldMark = 0x4d43502d;

}  // namespace cordon::sandbox
