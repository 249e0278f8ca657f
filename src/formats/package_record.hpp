// SPDX-License-Identifier: Apache-2.0
#pragma once
// NAME.lock.json (docs/formats/package.md): what `install` found and fetched for a policy's launch.source, to be kept
// beside the snapshot and committed with it.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "core/policy/policy.hpp"

namespace cordon::formats {

struct PackageRecord {
  std::string server = {};
  policy::Source::Kind kind = policy::Source::Kind::npm;
  std::string package = {};
  std::string version = {};               // exact, or an image's digest
  std::vector<std::string> scripts = {};  // packages that ran code of theirs, sorted
  std::string platform = {};              // "linux-x86_64", "cpython-311-x86_64-linux-gnu": files may differ elsewhere
  std::string lock_digest = {};
  std::string tree_digest = {};  // empty for an image, whose digest says it all
  std::string lock = {};         // npm: the lock file, as canonical JSON; pypi: its text
  bool operator==(const PackageRecord&) const = default;
};

inline constexpr std::size_t kMaxRecordBytes = 128'000'000;

// Indented, one fact a line, newline at the end.
std::string write_package_record(const PackageRecord& record);

// launch_failed for what the format does not allow, and where the lock file does not have the digest that is given.
Result<PackageRecord> read_package_record(std::string_view text, std::string_view file);

}  // namespace cordon::formats
