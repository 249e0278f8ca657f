// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256 of a file without reading it at every start: an interpreter has a hundred megabytes, and clients start
// servers often. A digest is remembered by what the kernel says of the file (device, inode, size, times of modification
// and of change). The change time cannot be set by a program without privileges, and it moves with every write, rename
// of another file onto the path, chmod or link, so a file that was altered has no remembered digest.
//
// Two guards: nothing is remembered of a file that changed within the last two seconds (a second change could carry the
// same time), and what is read back passes the trust checks of every file that steers us. Who can write the state
// folder can write the snapshot as well.

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace cordon::app {

class DigestCache {
 public:
  // `folder` is created when first needed, mode 0700; empty: nothing is remembered. Files smaller than
  // `min_bytes` are always read.
  explicit DigestCache(std::string folder, std::uint64_t min_bytes = 4'000'000);

  // "sha256:…" of a regular file. file_unreadable with the path when it cannot be read or changes while it is. A cache
  // that cannot be used costs time, never the answer.
  Result<std::string> digest(const std::string& path) const;

 private:
  std::string folder_;
  std::uint64_t min_bytes_;
};

}  // namespace cordon::app
