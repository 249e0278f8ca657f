// SPDX-License-Identifier: Apache-2.0
#pragma once
// install: fetches what launch.source names into the store, once, in a sandbox of its own. `run` never does.

#include <functional>
#include <string>
#include <string_view>

#include "app/session_context.hpp"
#include "base/error.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

struct InstallProgress {
  std::function<void(std::string_view)> say = [](std::string_view) {};  // a line for a person
  std::function<void(std::size_t)> fetched = [](std::size_t) {};        // how many files came by now
};

struct Installed {
  formats::PackageRecord record = {};
  std::size_t packages = 0;
  bool was_there = false;  // nothing had to be fetched
};

// `registry`: what was recorded before does not count (update). launch_failed with what went wrong, launch_changed when
// the recorded lock file gives other files than were recorded; the store is as it was before then.
enum class InstallFrom : std::uint8_t { record, registry };
Result<Installed> install_package(const Caller& caller, const LoadedPolicy& loaded, InstallFrom from,
                                  const InstallProgress& progress);

// Fetches an image by its digest with the engine that the policy names.
Result<Installed> install_image(const Caller& caller, const LoadedPolicy& loaded, const InstallProgress& progress);

// Writes the record beside the snapshot; a version that was not exact becomes so in the policy file.
struct Pinned {
  std::string record_path = {};
  bool policy_written = false;
};
Result<Pinned> keep_record(const Caller& caller, const LoadedPolicy& loaded, const formats::PackageRecord& record);

// The policy's text with another version in launch.source. policy_invalid when its place cannot be found.
Result<std::string> with_version(const LoadedPolicy& loaded, std::string_view version);

// Replaces the policy file, keeping its mode.
Status write_policy(const LoadedPolicy& loaded, std::string_view text);

}  // namespace cordon::app
