// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of an installed package: made fit for the store once, and looked at before each start.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.hpp"

namespace cordon::app {

// Refuses what has no place in a package (links that lead out of it, devices, sockets, files with a second name), and
// takes all rights to write and to run as another from the rest. Everything is taken from the folder itself, never
// through a symlink. launch_failed.
Status seal_tree(const std::string& folder);

struct TreeDigest {
  std::string digest = {};    // of paths and contents
  std::string compiled = {};  // of what lies in folders __pycache__, where that is kept apart
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Names, kinds, contents, targets of links, and whether a file can be executed: the same on every machine.
// What Python has compiled from the sources beside it is not: it is kept `apart`.
enum class Compiled : std::uint8_t { counted, apart };
inline constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();
// launch_changed as soon as the files hold more than `most`, before those bytes are read.
Result<TreeDigest> content_digest(const std::string& folder, Compiled compiled = Compiled::counted,
                                  std::uint64_t most = kAnyBytes);

// What the kernel says of all of it, for is_as_in_table: every name was read, and one system call made for each entry,
// however large that is.
Result<std::string> tree_table(const std::string& folder);

// Removes it with all that is in it, never through a symlink. Missing is fine.
Status remove_tree(const std::string& folder);

}  // namespace cordon::app
