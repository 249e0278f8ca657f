// SPDX-License-Identifier: Apache-2.0
#pragma once
// Walking to a file that steers us: every folder and every symlink on the way must be out of the reach of other users.

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::run {

// A folder that was reached by trusted steps alone, and the last name of the path within it.
struct TrustedPlace {
  UniqueFd folder = {};          // O_PATH
  std::string folder_path = {};  // resolved, without symlinks
  std::string name = {};         // of the file; empty when the path itself was to be a folder
  std::string path() const;
};

enum class Missing : std::uint8_t { refuse, create };

// Walks to the folder that holds the last component of `path` (relative paths start at the working directory). Symlinks
// before the last component are followed when they belong to root or `user`; the last is not looked at.
//   file_untrusted   a folder or symlink of another user, or a folder that others may write to and that is not sticky
//   file_unreadable  something on the way is missing (detail ends with "No such file or directory …"), no folder, …
Result<TrustedPlace> walk_to_file(const std::string& path, uid_t user);

// The same for a folder, the last component included. Missing::create makes missing folders, mode 0700.
Result<TrustedPlace> walk_to_folder(const std::string& path, uid_t user, Missing missing);

// Judges a descriptor's owner and mode: root or `user`, not writable by group or others.
Status check_trusted_file(const struct stat& info, const std::string& path, uid_t user);

// A path as one word of a shell command, printable.
std::string shell_word(std::string_view path);

}  // namespace cordon::run
