// SPDX-License-Identifier: Apache-2.0
#pragma once
// What binds a reviewed catalog to the program that it was reviewed with.

#include <cstdint>
#include <string>
#include <vector>

#include "app/digest_cache.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

// Which file it was that was digested. Any write, rename onto it, chmod or link moves its time of change.
struct FileWitness {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FileWitness&) const = default;
};
// All zero when there is no such file.
FileWitness witness(const std::string& path);
struct WitnessedFile {
  std::string path = {};  // outside
  FileWitness as = {};
};

struct FingerprintInput {
  const policy::Policy& policy;
  std::vector<std::string> command = {};    // launch.command, or the client's where the policy takes it
  std::string executable = {};              // real path of argv[0]
  std::vector<sandbox::Mount> mounts = {};  // where inside paths of argv lie outside
  DigestCache digests = DigestCache("");    // of large files
  std::string cwd = {};                     // inside; relative words of the command start there
  std::string search_path = {};             // PATH inside
  std::string image_digest = {};            // in place of an executable, with `arguments` of what the image starts
  std::vector<std::string> arguments = {};
  catalog::PackagePin package = {};  // with launch.source
};

// `files` holds what named_files and interpreters find. `witnessed` gets each of these as it was before it was
// digested.
Result<catalog::LaunchFingerprint> fingerprint(const FingerprintInput& input,
                                               std::vector<WitnessedFile>* witnessed = nullptr);

// One line per difference, each fit for a person; empty when both are equal.
std::vector<std::string> launch_differences(const catalog::LaunchFingerprint& reviewed,
                                            const catalog::LaunchFingerprint& now);

}  // namespace cordon::app
