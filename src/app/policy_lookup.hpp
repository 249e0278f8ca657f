// SPDX-License-Identifier: Apache-2.0
#pragma once
// From NAME to files: which policy is meant, and where its snapshot and its private state lie.

#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

// Names match [A-Za-z0-9][A-Za-z0-9._-]{0,63}.
bool valid_name(std::string_view name);

// What the command line named: exactly one of name and file is set.
struct PolicyChoice {
  std::string name = {};
  std::string file = {};
  std::vector<std::string> ceilings = {};  // files of --ceiling
};

struct PolicyLocation {
  std::string path = {};       // absolute
  std::string name = {};       // NAME, or the file's name without its extension
  bool found_by_name = false;  // false: --policy FILE
  std::string spelled = {};    // absolute, as it was given; `path` differs from it where it holds ".."
};

// NAME is looked for in the user's, the system's and the installed policies folder, in this order, never in the
// current directory. The first folder that has an entry of that name decides, whatever the entry is: an unusable policy
// must not uncover another one of the same name, and neither must a folder that cannot be looked into. policy_invalid
// for an impossible name, file_unreadable when there is none or it cannot be known.
Result<PolicyLocation> locate_policy(const Caller& caller, const PolicyChoice& choice);

// For check, which is given files alone: one that lies where its name is found is what `run NAME` would take.
Result<PolicyLocation> locate_as_found(const Caller& caller, const std::string& file);

// Where the snapshot of a policy is read and written.
struct SnapshotLocation {
  std::string path = {};
  // Apart from its policy: such a snapshot names the policy's path and digest, so that another policy of the same name,
  // or an edited one, does not inherit the review.
  bool bound = false;
};

// A snapshot lies beside its policy (`as_written` is catalog.snapshot, relative to the policy's folder; empty:
// NAME.catalog.json). For a policy found by NAME in a folder where the user places no files (not writable, or part of
// the installation), it lies in the user's CONFIG/snapshots; what is shipped beside such a policy is read as long as
// the user has reviewed nothing. file_unreadable when it cannot be known whether there is one.
Result<SnapshotLocation> snapshot_to_read(const Caller& caller, const PolicyLocation& policy,
                                          std::string_view as_written);
SnapshotLocation snapshot_to_write(const Caller& caller, const PolicyLocation& policy, std::string_view as_written);

// STATE/candidates/NAME.catalog.json
std::string candidate_path(const Caller& caller, std::string_view name);
// STATE/homes/SERVER, the kept HOME of a server.
std::string home_path(const Caller& caller, std::string_view server);
std::string audit_folder(const Caller& caller);

}  // namespace cordon::app
