// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel says of every entry of a tree, kept in one piece, so that the same tree can be recognised without
// reading it. Who writes to a file, puts another in its place, renames it or changes its rights moves its time of
// change, which no program can set; who adds, removes or renames an entry of a folder moves that of the folder.

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "base/error.hpp"

namespace cordon::app {

// Of one entry. All in nanoseconds and bytes, as stat() gives them.
struct EntryFacts {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::int64_t changed = 0;
  std::uint32_t mode = 0;
  std::uint32_t path_bytes = 0;
  static EntryFacts of(const struct stat& info);
  bool operator==(const EntryFacts&) const = default;
};

// Appends one entry; `path` is below the root, which itself is the first entry, as "".
void add_to_table(std::string& table, std::string_view path, const struct stat& info);

// Is the tree in this folder still the one that the table was made of? One system call for each entry, in several
// threads where there are many. false for anything that cannot be looked at, and for a table that is none of ours.
bool is_as_in_table(const std::string& folder, std::string_view table);

// How many bytes all files in it have together; 0 for a table that is none of ours.
std::uint64_t bytes_in_table(std::string_view table);

// Waits until whatever changes from now on gets a later time of change than anything in the table has: 20 ms at most,
// 2 s where the file system keeps whole seconds. false when the clock was set back, so that nothing can be said.
bool outlast_table(std::string_view table);

}  // namespace cordon::app
