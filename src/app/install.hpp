// SPDX-License-Identifier: Apache-2.0
#pragma once
// install: fetches what launch.source names into the store, once, in a sandbox of its own. `run` never does.

#include <functional>
#include <string>
#include <string_view>

#include "app/pending_changes.hpp"
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

// Fetches an image with the engine that the policy names, by its digest; without one, by what its tag means today.
Result<Installed> install_image(const Caller& caller, const LoadedPolicy& loaded, InstallFrom from,
                                const InstallProgress& progress);

// Are the files of the record in the store, or is its image with the engine?
bool is_installed(const Caller& caller, const LoadedPolicy& loaded, const formats::PackageRecord& record);

// Digest of the record's file, "" when there is none: what an installation begins from.
Result<std::string> recorded_before(const Caller& caller, const LoadedPolicy& loaded);

// Writes the record beside the snapshot; a version that was not exact becomes so in the policy file. launch_changed
// when the policy or the record, as it was `before`, was changed meanwhile.
struct Pinned {
  std::string record_path = {};
  bool policy_written = false;
};
Result<Pinned> keep_record(const Caller& caller, const LoadedPolicy& loaded, const formats::PackageRecord& record,
                           const std::string& before);

// The source as it is when this record counts.
policy::Source source_for(const policy::Source& source, const formats::PackageRecord& record);

// The policy's text as it is when this is what counts: with its version in launch.source, unless that may stay open;
// of an image with its tag, too. policy_invalid when the place cannot be found.
Result<std::string> text_for(const LoadedPolicy& loaded, const formats::PackageRecord& record);

// The same with another source, or another version.
Result<std::string> with_source(const LoadedPolicy& loaded, const policy::Source& wanted);
Result<std::string> with_version(const LoadedPolicy& loaded, std::string_view version);

// Of the policy file, which keeps its mode.
Result<FileChange> policy_change(const LoadedPolicy& loaded, std::string text);

}  // namespace cordon::app
