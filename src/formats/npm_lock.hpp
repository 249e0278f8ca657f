// SPDX-License-Identifier: Apache-2.0
#pragma once
// package-lock.json as npm writes it: which packages an installation consists of, and the digest of each.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/json/limits.hpp"

namespace cordon::formats {

inline constexpr json::Limits kNpmLockLimits = {.max_bytes = 64'000'000, .max_depth = 32};

struct LockedPackage {
  std::string place = {};  // "node_modules/zod", "node_modules/a/node_modules/b"
  std::string name = {};
  std::string version = {};
  std::string integrity = {};  // "sha512-…"; empty for what lies in the archive of another package
  bool wants_scripts = false;  // it has scripts for its installation
  bool operator==(const LockedPackage&) const = default;
};

struct NpmLock {
  std::vector<LockedPackage> packages = {};  // in the order of the file
  std::string canonical = {};                // the whole file (json::canonical)
  std::string digest = {};                   // of that

  const LockedPackage* find(std::string_view place) const;
};

// launch_failed when it is no lock file of version 2 or 3, or when something in it is not bound to one content: a
// package without a sha512 digest, a link, a repository, a place outside of node_modules. `file` is for messages.
Result<NpmLock> read_npm_lock(std::string_view text, std::string_view file);

}  // namespace cordon::formats
