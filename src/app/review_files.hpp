// SPDX-License-Identifier: Apache-2.0
#pragma once
// review around its pure part: what is compared, and where the result goes.

#include <optional>
#include <string>
#include <vector>

#include "app/review.hpp"
#include "app/session_context.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct ReviewRequest {
  const Caller& caller;
  PolicyChoice choice = {};
  std::vector<std::string> client_command = {};
  std::string candidate_file = {};  // empty: the live catalog is captured
  std::string version = {};
};

struct OpenReview {
  LoadedPolicy loaded;
  Review review;
  std::string introduction = {};  // for the person, before the first item
  // The result counts even if there is nothing to decide: there was no snapshot of a person yet.
  bool must_write = false;
  std::string digest = {};                             // of the present file's bytes; empty without one
  std::optional<formats::PackageRecord> package = {};  // what was installed when the review began
};

// launch_changed when a candidate file was captured from another launch than the policy describes now.
Result<OpenReview> open_review(const ReviewRequest& request, ReviewScope scope);

// The same for a policy that is loaded already.
Result<OpenReview> open_review_of(const ReviewRequest& request, LoadedPolicy loaded, ReviewScope scope);

// Writes the snapshot. file_unreadable, file_untrusted; launch_changed when an update or a rollback moved to another
// package since the review began.
Result<StoredSnapshot> finish_review(const Caller& caller, const OpenReview& open, const std::string& reviewer,
                                     bool unattended);

}  // namespace cordon::app
