// SPDX-License-Identifier: Apache-2.0
#pragma once
// A package that is about to be started while its files are still looked at.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/fingerprint.hpp"
#include "app/package_launch.hpp"
#include "app/store_check.hpp"
#include "base/error.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

// The look at the installed files, which goes on while the rest is prepared, and what was taken from them meanwhile.
class PackageStart {
 public:
  PackageStart() = default;
  PackageStart(const PackageStart&) = delete;
  PackageStart& operator=(const PackageStart&) = delete;

  // Finds the program and begins the look at the files. `caller` is borrowed as long as this lives.
  Result<PackageProgram> begin(const Caller& caller, const formats::PackageRecord& record,
                               const std::vector<std::string>& command, const std::string& install_command);

  bool begun() const { return caller_ != nullptr; }

  // The verdict on the files, which comes before any other error, since a tree that changed explains the rest. Fine at
  // once where nothing was begun. launch_changed, and what look_at_store gives.
  Status wait();

 private:
  const Caller* caller_ = nullptr;
  formats::PackageRecord record_ = {};
  std::vector<std::string> command_ = {};
  PackageProgram program_ = {};
  FileWitness tree_ = {};  // as it was before anybody looked
  StoreCheck check_ = {};  // last: its thread reads the record
};

}  // namespace cordon::app
