// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that steer a session, opened once under the trust checks and never read again: policy and snapshot.

#include <optional>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/ceilings.hpp"
#include "app/policy_lookup.hpp"
#include "app/write_grants.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

struct LoadedPolicy {
  PolicyLocation location = {};
  policy::Policy policy = {};
  std::string digest = {};                   // of the file's bytes
  std::string text = {};                     // these bytes
  std::vector<LoadedCeiling> ceilings = {};  // that the policy stays below
  // In place of what lies beside the snapshot: of a package that is looked at before it counts.
  std::optional<formats::PackageRecord> package = {};
};

// The policy as a file alone, for commands that neither start nor judge anything by it.
Result<LoadedPolicy> read_policy_file(const Caller& caller, const PolicyChoice& choice);

// The same, for all others: isolation_conflict when it asks for more than a ceiling in force accepts, and what
// load_ceilings gives.
Result<LoadedPolicy> load_policy(const Caller& caller, const PolicyChoice& choice);

// The second half of load_policy: reads the ceilings into `loaded` and compares.
Status apply_ceilings(const Caller& caller, const PolicyChoice& choice, LoadedPolicy& loaded);

struct LoadedSnapshot {
  SnapshotLocation location = {};
  std::optional<catalog::Snapshot> snapshot = {};  // nothing: there is no such file
  std::string digest = {};                         // of the file's bytes; empty without one
  std::optional<Error> unsigned_because = {};      // catalog.trusted_keys asks for a signature that is not there
};

// The reviewed catalog of a policy, whoever reviewed it. snapshot_invalid for a file that is no snapshot, is of another
// server, is a candidate, or was reviewed for another policy.
Result<LoadedSnapshot> load_snapshot(const Caller& caller, const LoadedPolicy& loaded);

// May `run` go on with what was found? snapshot_missing, snapshot_unattended, and what keeps it from being signed.
Status admit_snapshot(const LoadedPolicy& loaded, const LoadedSnapshot& found);

// launch_changed: the launch differs from the one that `found` was reviewed with.
std::unexpected<Error> other_launch(const LoadedPolicy& loaded, const LoadedSnapshot& found,
                                    const std::vector<std::string>& differences);

// What a review may take for reviewed. Where the policy trusts keys, a file that none of them signed may be anybody's:
// then nothing.
std::optional<catalog::Snapshot> ground_of_review(const LoadedSnapshot& found);

struct StoredSnapshot {
  std::string path = {};
  std::string digest = {};  // of the file's bytes
};

// Writes the snapshot of `loaded` to where `review` puts it, atomically.
Result<StoredSnapshot> store_snapshot(const Caller& caller, const LoadedPolicy& loaded, catalog::Snapshot snapshot);

// Signs the present snapshot file of `loaded` into a file beside it. Gives that file's path. `digest`: of the bytes
// that were reviewed; snapshot_invalid when the file has others by now.
Result<std::string> sign_snapshot(const Caller& caller, const LoadedPolicy& loaded, const std::string& key_file,
                                  std::string_view digest);

// A candidate file, under the trust checks: what is accepted from it steers us.
Result<catalog::Snapshot> load_candidate(const std::string& path, const LoadedPolicy& loaded);

// Where the record of the installed package is written: beside the snapshot, NAME.lock.json.
std::string record_path(const Caller& caller, const LoadedPolicy& loaded);

// What is installed for launch.source; nothing when there is no source or no record. launch_failed for a file that is
// none, or is of another server.
Result<std::optional<formats::PackageRecord>> load_record(const Caller& caller, const LoadedPolicy& loaded);

// NAME, or --policy FILE: how a person names this policy.
std::string spelled_name(const LoadedPolicy& loaded);

// What a person types to review this policy's server.
std::string review_command(const LoadedPolicy& loaded);

// What no write grant may reach; `more`: further files that decide about this launch (a ceiling, a key, where a
// candidate is written).
OwnPaths own_paths(const Caller& caller, const LoadedPolicy& loaded, const std::vector<std::string>& more = {});

}  // namespace cordon::app
