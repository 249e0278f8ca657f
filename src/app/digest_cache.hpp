// SPDX-License-Identifier: Apache-2.0
#pragma once
// SHA-256 of a file without reading it at every start: an interpreter has a hundred megabytes, and clients start
// servers often. A digest is remembered by what the kernel says of the file (device, inode, size, times of modification
// and of change).
//
// None of these moves for certain when a file is written: who has mapped it writable changes it without a trace until
// the kernel writes it back. So only what root alone can write is remembered: root owns it, no mode bit lets others
// write, and it has one name, so that no write grant holds a second. That no write grant holds the file itself is
// checked before anything is digested (write_grants.hpp). Everything else is read each time.
//
// Two more guards: nothing is remembered of a file that changed within the last two seconds (a second change could
// carry the same time), and what is read back passes the trust checks of every file that steers us. Who can write the
// state folder can write the snapshot as well.

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace cordon::app {

// Can nobody but root write to the file?
bool only_root_writes(const struct stat& info);

class DigestCache {
 public:
  // `folder` is created when first needed, mode 0700; empty: nothing is remembered. Files smaller than
  // `min_bytes`, or changed within the last `settle_ns`, are always read.
  explicit DigestCache(std::string folder, std::uint64_t min_bytes = 4'000'000, std::int64_t settle_ns = 2'000'000'000);

  // "sha256:…" of a regular file. file_unreadable with the path when it cannot be read or changes while it is. A cache
  // that cannot be used costs time, never the answer.
  Result<std::string> digest(const std::string& path) const;

 private:
  std::string folder_;
  std::uint64_t min_bytes_;
  std::int64_t settle_ns_;
};

}  // namespace cordon::app
