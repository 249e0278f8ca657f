// SPDX-License-Identifier: Apache-2.0
#include "app/review_files.hpp"

#include <ctime>
#include <filesystem>

#include "app/capture.hpp"
#include "app/fingerprint.hpp"
#include "app/launch_plan.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

// A candidate is a statement about one launch; accepting it for another would pin what nobody has seen.
Result<catalog::Snapshot> candidate_from_file(const ReviewRequest& request, const LoadedPolicy& loaded) {
  Result<catalog::Snapshot> candidate = load_candidate(request.candidate_file, loaded);
  if (!candidate) {
    return candidate;
  }
  Result<std::optional<formats::PackageRecord>> package = load_record(request.caller, loaded);
  if (!package) {
    return std::unexpected(package.error());
  }
  const Result<PreparedLaunch> launch =
      prepare_launch({loaded.policy,
                      request.caller,
                      request.client_command,
                      own_paths(request.caller, loaded, {std::filesystem::absolute(request.candidate_file)}),
                      {},
                      LaunchRequest::Depth::show,
                      {},
                      {},
                      std::move(*package),
                      text::cat("mcp-cordon install ", spelled_name(loaded))});
  if (!launch) {
    return std::unexpected(launch.error());
  }
  const std::vector<std::string> differences = launch_differences(candidate->launch, launch->fingerprint);
  if (!differences.empty()) {
    return fail(Errc::launch_changed, "was captured from another launch: " + text::join(differences, "; "),
                request.candidate_file, "capture it again");
  }
  return candidate;
}

std::string introduce(const LoadedPolicy& loaded, const LoadedSnapshot& found, const Review& review) {
  std::string out = text::cat("Review of ", text::printable(loaded.policy.server), ": ");
  if (review.builds_on_review()) {
    return text::cat(out, "differences to the snapshot of ", text::printable(found.snapshot->reviewed_at, 64), " by ",
                     text::printable(found.snapshot->reviewer, 256), ".\n");
  }
  if (found.unsigned_because) {
    return text::cat(out, "nobody vouches for the present snapshot: it ",
                     text::printable(found.unsigned_because->detail, 500), ". Everything is shown.\n");
  }
  return out + (found.snapshot ? "no person has reviewed the present snapshot, so everything is shown.\n"
                               : "there is no snapshot yet, so everything is new.\n");
}

}  // namespace

Result<OpenReview> open_review(const ReviewRequest& request, ReviewScope scope) {
  Result<LoadedPolicy> loaded = load_policy(request.caller, request.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return open_review_of(request, std::move(*loaded), scope);
}

Result<OpenReview> open_review_of(const ReviewRequest& request, LoadedPolicy loaded, ReviewScope scope) {
  const Result<LoadedSnapshot> found = load_snapshot(request.caller, loaded);
  // A snapshot that cannot be used any more is what review is there for; one that somebody else may have written is
  // not to be replaced silently.
  if (!found && found.error().code != Errc::snapshot_invalid) {
    return std::unexpected(found.error());
  }
  const LoadedSnapshot before = found ? *found : LoadedSnapshot{};
  Result<std::optional<formats::PackageRecord>> package = load_record(request.caller, loaded);
  if (!package) {
    return std::unexpected(package.error());
  }
  const std::optional<catalog::Snapshot> ground = ground_of_review(before);
  Result<catalog::Snapshot> candidate = request.candidate_file.empty()
                                            ? capture_candidate({request.caller, loaded, request.client_command,
                                                                 request.version, ground ? &*ground : nullptr})
                                            : candidate_from_file(request, loaded);
  if (!candidate) {
    return std::unexpected(candidate.error());
  }
  Review review(ground, std::move(*candidate), scope);
  std::string introduction = introduce(loaded, before, review);
  if (!found) {
    introduction = text::cat("The present snapshot cannot be used: ", text::printable(found.error().to_string(), 2000),
                             '\n', introduction);
  }
  const bool must_write = !review.builds_on_review() || review.places_changed();
  return OpenReview{std::move(loaded), std::move(review), std::move(introduction),
                    must_write,        before.digest,     std::move(*package)};
}

Result<StoredSnapshot> finish_review(const Caller& caller, const OpenReview& open, const std::string& reviewer,
                                     bool unattended) {
  const Result<std::optional<formats::PackageRecord>> now = load_record(caller, open.loaded);
  if (!now || *now != open.package) {
    return now ? fail(Errc::launch_changed, "another package counts now than was reviewed, so nothing was written",
                      open.loaded.location.path, "review again")
               : std::unexpected(now.error());
  }
  return store_snapshot(
      caller, open.loaded,
      open.review.result({reviewer, rfc3339(static_cast<std::int64_t>(std::time(nullptr))), unattended}));
}

}  // namespace cordon::app
