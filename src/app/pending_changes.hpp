// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that change together: policy, record and snapshot of an update or a rollback. All of it is written down first,
// so that whoever comes next after a crash completes it, before the policy is read.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct FileChange {
  std::string path = {};
  std::optional<std::string> text = {};  // nothing: it is removed
  mode_t mode = 0644;
  // Digest of what the file held when the change was made up, "" when there was none; nothing: whatever it holds.
  std::optional<std::string> before = {};
  bool stays = false;  // only looked at, for `before`
};

// All of them, or, when one cannot be written, none. `policy`: path of the policy that they belong to. launch_changed
// when a file holds neither what it did before nor what it is to hold.
Status change_together(const Caller& caller, const std::string& policy, const std::vector<FileChange>& changes);

// Completes what was cut off, and gives notice of it. Without anything to do it costs one look. launch_failed, once,
// when one of the files was changed by somebody else since: then all stay as they are.
Status complete_changes(const Caller& caller, const std::string& policy);

}  // namespace cordon::app
