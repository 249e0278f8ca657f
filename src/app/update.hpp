// SPDX-License-Identifier: Apache-2.0
#pragma once
// update: another version beside the present one, which goes on counting until a review accepts what is new. rollback:
// back to what counted before.

#include <optional>
#include <string>
#include <string_view>

#include "app/install.hpp"
#include "app/review_files.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"

namespace cordon::app {

struct OpenUpdate {
  OpenReview open;        // of the new version; `loaded` is the policy as it will be
  std::string from = {};  // "pkg@1.2.3"
  std::string to = {};
  UniqueFd hold = {};  // of what was installed, while it counts for nobody
};

// Before anybody is asked: has the policy a source, and may it be written? What open_update says of it.
Status may_update(const Caller& caller, const PolicyChoice& choice);

// Installs VERSION (empty: the newest, by the registry's tag) and captures its catalog. Nothing when that is what
// counts already. What install and review give.
Result<std::optional<OpenUpdate>> open_update(const ReviewRequest& request, std::string_view version,
                                              const InstallProgress& progress);

// Makes it count: policy, record and snapshot. What counted before is kept for rollback. launch_changed, and nothing
// is written, when the review did not accept the new launch. Cut off in between, the next command
// completes it.
Result<StoredSnapshot> finish_update(const Caller& caller, const OpenUpdate& update, const std::string& reviewer,
                                     bool unattended);

struct RolledBack {
  std::string from = {};
  std::string to = {};
  bool installed = false;  // its files are still in the store
};
// What counts now is kept in turn. launch_failed when nothing is kept.
Result<RolledBack> roll_back(const Caller& caller, const PolicyChoice& choice);

}  // namespace cordon::app
