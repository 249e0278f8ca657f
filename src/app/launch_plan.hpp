// SPDX-License-Identifier: Apache-2.0
#pragma once
// A policy becomes a sandbox::LaunchSpec: everything about the outside is looked up here, once, and fixed.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/fingerprint.hpp"
#include "app/grants.hpp"
#include "app/package_start.hpp"
#include "app/secrets.hpp"
#include "app/write_grants.hpp"
#include "base/error.hpp"
#include "base/mask.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"
#include "formats/package_record.hpp"
#include "sandbox/spec.hpp"

namespace cordon::app {

inline constexpr std::string_view kInsideHome = "/home/cordon";

// Asked before a secret is fetched: is this the launch that was reviewed?
using Admit = std::function<Status(const catalog::LaunchFingerprint& now)>;
// Asked after that, with everything but the values of secrets: can this be launched?
using AdmitSpec = std::function<Status(const sandbox::LaunchSpec& spec)>;

struct LaunchRequest {
  const policy::Policy& policy;
  const Caller& caller;
  std::vector<std::string> client_command = {};  // `run NAME -- CMD ARGS…`; empty when none was given
  OwnPaths own = {};
  ReadTrusted read_trusted = {};  // for secrets in files
  // For commands that only show the plan: no secret is fetched and no folder is made. `judge` does no more, and refuses
  // what `start` would.
  enum class Depth : std::uint8_t { start, show, judge } depth = Depth::start;
  Admit admit = {};
  AdmitSpec admit_spec = {};
  // With launch.source: what is installed. Nothing: nothing is.
  std::optional<formats::PackageRecord> package = {};
  std::string install = "mcp-cordon install";  // what a person types to change that
  // The verdict on its files may be left to PreparedLaunch::unjudged, where no secret has to wait for it.
  bool judge_later = false;
};

struct PreparedLaunch {
  sandbox::LaunchSpec spec = {};
  catalog::LaunchFingerprint fingerprint = {};
  FileWitness executable = {};                      // as it was before it was digested
  std::vector<WitnessedFile> files = {};            // the same of what else the command runs
  std::vector<NamedSecret> secrets = {};            // values that must not be written anywhere
  std::vector<std::string> environment_names = {};  // of all that the server gets
  std::vector<std::string> program_folders = {};    // of a package, for PATH
  std::string package_tree = {};                    // the mount that is no grant of the policy
  catalog::PackagePin package = {};
  // Files that are still looked at. Nothing of them may be executed before its wait() has said that all is well.
  std::unique_ptr<PackageStart> unjudged = {};
};

// The command that is to be started: the policy's, or the client's where the policy says so. A client's command that is
// given must equal the policy's element by element, else launch_changed.
Result<std::vector<std::string>> effective_command(const policy::Policy& policy,
                                                   const std::vector<std::string>& client_command);

// Checks everything that can be checked without starting anything, then fetches secrets. policy_invalid,
// launch_changed, launch_failed, timed_out, file_untrusted, file_unreadable.
Result<PreparedLaunch> prepare_launch(const LaunchRequest& request);

}  // namespace cordon::app
