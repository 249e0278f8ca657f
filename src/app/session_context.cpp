// SPDX-License-Identifier: Apache-2.0
#include "app/session_context.hpp"

#include <utility>

#include "app/paths.hpp"
#include "app/pending_changes.hpp"
#include "app/signatures.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/catalog/compare.hpp"
#include "formats/policy_yaml.hpp"
#include "formats/snapshot.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxPolicyBytes = 1'000'000;

Status check_snapshot(const LoadedPolicy& loaded, const SnapshotLocation& location, const catalog::Snapshot& snapshot) {
  if (snapshot.server != loaded.policy.server) {
    return fail(Errc::snapshot_invalid,
                text::cat("is of the server '", text::printable(snapshot.server, 100), "', the policy of '",
                          loaded.policy.server, "'"),
                location.path, "name the right snapshot in catalog.snapshot");
  }
  if (!snapshot.reviewed) {
    return fail(Errc::snapshot_invalid, "is a candidate that nobody has reviewed", location.path,
                text::cat(review_command(loaded), " --candidate ", location.path));
  }
  if (location.bound && snapshot.policy != catalog::PolicyBinding{loaded.location.path, loaded.digest}) {
    return fail(Errc::snapshot_invalid,
                snapshot.policy.path == loaded.location.path ? "was reviewed with another version of the policy"
                                                             : "was reviewed for another policy",
                location.path, review_command(loaded));
  }
  return {};
}

std::string record_beside(const std::string& snapshot, const LoadedPolicy& loaded) {
  return text::cat(parent_of(snapshot), '/', loaded.location.name, ".lock.json");
}

}  // namespace

std::string spelled_name(const LoadedPolicy& loaded) {
  return loaded.location.found_by_name ? loaded.location.name : "--policy " + loaded.location.path;
}

std::string review_command(const LoadedPolicy& loaded) { return text::cat("mcp-cordon review ", spelled_name(loaded)); }

std::string record_path(const Caller& caller, const LoadedPolicy& loaded) {
  return record_beside(snapshot_to_write(caller, loaded.location, loaded.policy.catalog.snapshot).path, loaded);
}

Result<std::optional<formats::PackageRecord>> load_record(const Caller& caller, const LoadedPolicy& loaded) {
  if (!loaded.policy.launch.source || loaded.package) {
    return loaded.package;
  }
  const Result<SnapshotLocation> snapshot = snapshot_to_read(caller, loaded.location, loaded.policy.catalog.snapshot);
  if (!snapshot) {
    return std::unexpected(snapshot.error());
  }
  for (const std::string& path : {record_path(caller, loaded), record_beside(snapshot->path, loaded)}) {
    const Result<std::optional<run::TrustedFile>> file =
        run::read_trusted_if_present(path, {.max_bytes = formats::kMaxRecordBytes});
    if (!file) {
      return std::unexpected(file.error());
    }
    if (!*file) {
      continue;
    }
    Result<formats::PackageRecord> record = formats::read_package_record((*file)->content, path);
    if (!record) {
      return std::unexpected(record.error());
    }
    if (record->server != loaded.policy.server) {
      return fail(Errc::launch_failed,
                  text::cat("is of the server '", text::printable(record->server, 100), "', the policy of '",
                            loaded.policy.server, "'"),
                  path, text::cat("mcp-cordon install ", spelled_name(loaded)));
    }
    return std::move(*record);
  }
  return std::nullopt;
}

Result<LoadedPolicy> load_policy(const Caller& caller, const PolicyChoice& choice) {
  Result<LoadedPolicy> loaded = read_policy_file(caller, choice);
  if (loaded) {
    if (const Status admitted = apply_ceilings(caller, choice, *loaded); !admitted) {
      return std::unexpected(admitted.error());
    }
  }
  return loaded;
}

Status apply_ceilings(const Caller& caller, const PolicyChoice& choice, LoadedPolicy& loaded) {
  Result<std::vector<LoadedCeiling>> ceilings = load_ceilings(caller, choice.ceilings);
  if (!ceilings) {
    return std::unexpected(std::move(ceilings.error()));
  }
  loaded.ceilings = std::move(*ceilings);
  const std::vector<Error> found = excesses(caller, loaded.policy, loaded.text, loaded.ceilings);
  return found.empty() ? Status() : std::unexpected(joined(found));
}

Result<LoadedPolicy> read_policy_file(const Caller& caller, const PolicyChoice& choice) {
  Result<PolicyLocation> location = locate_policy(caller, choice);
  if (!location) {
    return std::unexpected(location.error());
  }
  if (const Status whole = complete_changes(caller, location->path); !whole) {
    return std::unexpected(whole.error());
  }
  const Result<run::TrustedFile> file = run::read_trusted(location->path, {.max_bytes = kMaxPolicyBytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  Result<policy::Policy> policy = formats::read_policy(file->content, location->path);
  if (!policy) {
    return std::unexpected(policy.error());
  }
  return LoadedPolicy{std::move(*location), std::move(*policy), sha256_text(file->content), file->content, {}};
}

namespace {

Status check_signature(const Caller& caller, const LoadedPolicy& loaded, const std::string& snapshot,
                       const std::string& content) {
  const std::string path = signature_path(snapshot);
  const std::string remedy = text::cat(review_command(loaded), " --sign");
  const Result<std::optional<run::TrustedFile>> signature = run::read_trusted_if_present(path, {.max_bytes = 65'536});
  if (!signature) {
    return std::unexpected(signature.error());
  }
  if (!*signature) {
    return fail(Errc::snapshot_invalid, "is not signed, and catalog.trusted_keys asks for it", snapshot, remedy);
  }
  Status verified = verify_signature(caller, content, (*signature)->content, loaded.policy.catalog.trusted_keys);
  if (!verified) {
    verified.error().where = snapshot;
    if (verified.error().remedy.empty()) {
      verified.error().remedy = remedy;
    }
  }
  return verified;
}

}  // namespace

Result<LoadedSnapshot> load_snapshot(const Caller& caller, const LoadedPolicy& loaded) {
  LoadedSnapshot out;
  Result<SnapshotLocation> location = snapshot_to_read(caller, loaded.location, loaded.policy.catalog.snapshot);
  if (!location) {
    return std::unexpected(location.error());
  }
  out.location = std::move(*location);
  const Result<std::optional<run::TrustedFile>> file =
      run::read_trusted_if_present(out.location.path, {.max_bytes = formats::kCatalogFileLimits.max_bytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  if (!*file) {
    return out;
  }
  Result<catalog::Snapshot> snapshot = formats::read_snapshot((*file)->content, out.location.path);
  if (!snapshot) {
    return std::unexpected(snapshot.error());
  }
  if (const Status fits = check_snapshot(loaded, out.location, *snapshot); !fits) {
    return std::unexpected(fits.error());
  }
  out.snapshot = std::move(*snapshot);
  out.digest = sha256_text((*file)->content);
  if (!loaded.policy.catalog.trusted_keys.empty()) {
    if (Status signed_by_one = check_signature(caller, loaded, out.location.path, (*file)->content); !signed_by_one) {
      out.unsigned_because = std::move(signed_by_one.error());
    }
  }
  return out;
}

Status admit_snapshot(const LoadedPolicy& loaded, const LoadedSnapshot& found) {
  const policy::Catalog& catalog = loaded.policy.catalog;
  if (!found.snapshot) {
    if (catalog.missing == policy::Missing::flag) {
      return {};
    }
    return fail(Errc::snapshot_missing, "nobody has reviewed this server's catalog yet", found.location.path,
                review_command(loaded));
  }
  if (found.unsigned_because) {
    return std::unexpected(*found.unsigned_because);
  }
  // Whoever signed it answers for it.
  const bool vouched_for = !catalog.trusted_keys.empty();
  if (found.snapshot->unattended && !catalog.accept_unattended && !vouched_for) {
    return fail(Errc::snapshot_unattended, "was accepted without a person looking at it", found.location.path,
                text::cat(review_command(loaded), " in a terminal, or set catalog.accept_unattended: true"));
  }
  return {};
}

std::unexpected<Error> other_launch(const LoadedPolicy& loaded, const LoadedSnapshot& found,
                                    const std::vector<std::string>& differences) {
  return fail(Errc::launch_changed, "this is not the launch that was reviewed: " + text::join(differences, "; "),
              found.location.path, review_command(loaded));
}

std::optional<catalog::Snapshot> ground_of_review(const LoadedSnapshot& found) {
  return found.unsigned_because ? std::nullopt : found.snapshot;
}

Result<StoredSnapshot> store_snapshot(const Caller& caller, const LoadedPolicy& loaded, catalog::Snapshot snapshot) {
  const SnapshotLocation location = snapshot_to_write(caller, loaded.location, loaded.policy.catalog.snapshot);
  snapshot.policy =
      location.bound ? catalog::PolicyBinding{loaded.location.path, loaded.digest} : catalog::PolicyBinding{};
  if (location.bound) {
    if (const Result<std::string> folder = run::ensure_private_folder(parent_of(location.path)); !folder) {
      return std::unexpected(folder.error());
    }
  }
  // Nothing secret is in it, and a policy of root's may be used by everybody.
  const std::string content = formats::write_snapshot(snapshot);
  const Status written = run::write_atomic(location.path, content, {.replace = run::Replace::existing, .mode = 0644});
  if (!written) {
    return std::unexpected(written.error());
  }
  return StoredSnapshot{location.path, sha256_text(content)};
}

Result<std::string> sign_snapshot(const Caller& caller, const LoadedPolicy& loaded, const std::string& key_file,
                                  std::string_view digest) {
  const std::string snapshot = snapshot_to_write(caller, loaded.location, loaded.policy.catalog.snapshot).path;
  const Result<run::TrustedFile> file =
      run::read_trusted(snapshot, {.max_bytes = formats::kCatalogFileLimits.max_bytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  // Another program of the same user may have written it since.
  if (sha256_text(file->content) != digest) {
    return fail(Errc::snapshot_invalid, "is not what was reviewed: it has changed meanwhile", snapshot,
                review_command(loaded));
  }
  // Never what could not count afterwards.
  if (const Result<catalog::Snapshot> read = formats::read_snapshot(file->content, snapshot);
      !read || !read->reviewed) {
    return read ? fail(Errc::snapshot_invalid, "is a candidate that nobody has reviewed", snapshot)
                : std::unexpected(read.error());
  }
  const Result<std::string> signature = sign_content(caller, file->content, key_file);
  if (!signature) {
    return signature;
  }
  std::string path = signature_path(snapshot);
  if (const Status written = run::write_atomic(path, *signature, {.replace = run::Replace::existing, .mode = 0644});
      !written) {
    return std::unexpected(written.error());
  }
  return path;
}

Result<catalog::Snapshot> load_candidate(const std::string& path, const LoadedPolicy& loaded) {
  const Result<run::TrustedFile> file = run::read_trusted(path, {.max_bytes = formats::kCatalogFileLimits.max_bytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  Result<catalog::Snapshot> candidate = formats::read_snapshot(file->content, path);
  if (!candidate) {
    return candidate;
  }
  if (candidate->server != loaded.policy.server) {
    return fail(Errc::snapshot_invalid,
                text::cat("is of the server '", text::printable(candidate->server, 100), "', the policy of '",
                          loaded.policy.server, "'"),
                path, "capture it with this policy");
  }
  return candidate;
}

OwnPaths own_paths(const Caller& caller, const LoadedPolicy& loaded, const std::vector<std::string>& more) {
  const std::string written = snapshot_to_write(caller, loaded.location, loaded.policy.catalog.snapshot).path;
  const Result<SnapshotLocation> read = snapshot_to_read(caller, loaded.location, loaded.policy.catalog.snapshot);
  OwnPaths out = own_paths(caller, loaded.location.path, read ? read->path : written);
  out.files.push_back(written);
  out.files.push_back(signature_path(written));
  out.files.push_back(record_path(caller, loaded));
  out.files.push_back(signature_path(read ? read->path : written));
  if (!loaded.location.spelled.empty()) {
    out.files.push_back(loaded.location.spelled);
  }
  out.files.push_back(candidate_path(caller, loaded.location.name));
  for (const LoadedCeiling& ceiling : loaded.ceilings) {
    out.files.push_back(ceiling.ceiling.file);
    out.files.push_back(ceiling.spelled);
    out.single.push_back(ceiling.ceiling.file);
  }
  out.files.insert(out.files.end(), more.begin(), more.end());
  return out;
}

}  // namespace cordon::app
