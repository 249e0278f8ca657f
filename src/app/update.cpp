// SPDX-License-Identifier: Apache-2.0
#include "app/update.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "app/grants.hpp"
#include "app/package_launch.hpp"
#include "app/package_users.hpp"
#include "app/paths.hpp"
#include "app/signatures.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/pypi_name.hpp"
#include "core/policy/source.hpp"
#include "formats/snapshot.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

using formats::PackageRecord;

// The files that change together. Their texts, since they are small beside what they stand for.
struct Counting {
  std::string record = {};
  std::string snapshot = {};   // empty: there is none
  std::string signature = {};  // likewise
};

struct Places {
  std::string record = {};
  std::string snapshot = {};
  std::string signature = {};
};

Places present_places(const Caller& caller, const LoadedPolicy& loaded) {
  const std::string snapshot = snapshot_to_write(caller, loaded.location, loaded.policy.catalog.snapshot).path;
  return {record_path(caller, loaded), snapshot, signature_path(snapshot)};
}

// One folder for each policy file.
Places kept_places(const Caller& caller, const LoadedPolicy& loaded) {
  const std::string folder =
      text::cat(caller.data_home, "/mcp-cordon/previous/", hex(sha256(loaded.location.path)).substr(0, 32));
  return {folder + "/lock.json", folder + "/catalog.json", folder + "/catalog.json.sig"};
}

Result<std::string> text_at(const std::string& path) {
  const auto file = run::read_trusted_if_present(path, {.max_bytes = formats::kCatalogFileLimits.max_bytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  return *file ? (*file)->content : std::string();
}

Result<Counting> read_all(const Places& places) {
  Counting out;
  for (const auto& [path, text] : {std::pair{&places.record, &out.record}, std::pair{&places.snapshot, &out.snapshot},
                                   std::pair{&places.signature, &out.signature}}) {
    Result<std::string> read = text_at(*path);
    if (!read) {
      return std::unexpected(read.error());
    }
    *text = std::move(*read);
  }
  return out;
}

// What makes the files at `places` hold these texts. `read`: what they held when it was looked, if it was.
void add_changes(const Places& places, const Counting& texts, const Counting* read, std::vector<FileChange>& out) {
  for (const auto& [path, member] :
       {std::pair{&places.record, &Counting::record}, std::pair{&places.snapshot, &Counting::snapshot},
        std::pair{&places.signature, &Counting::signature}}) {
    const auto given = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
    FileChange change{.path = *path, .text = given(texts.*member)};
    if (read != nullptr) {
      change.before = (read->*member).empty() ? std::string() : sha256_text(read->*member);
    }
    out.push_back(std::move(change));
  }
}

// Only a policy of the user's own can be moved to another version.
Result<LoadedPolicy> load_with_source(const Caller& caller, const PolicyChoice& choice) {
  Result<LoadedPolicy> loaded = load_policy(caller, choice);
  if (!loaded) {
    return loaded;
  }
  if (!loaded->policy.launch.source) {
    return fail(Errc::policy_invalid, "the policy names no launch.source", loaded->location.path,
                "only a server that is fetched as a package can be updated so; for one, write launch.source: {npm: "
                "\"pkg@1.2.3\"}");
  }
  if (snapshot_to_write(caller, loaded->location, loaded->policy.catalog.snapshot).bound) {
    return fail(Errc::file_unreadable, "the policy lies where it cannot be written", loaded->location.path,
                text::cat("copy it to ", caller.config_folder(), "/policies first"));
  }
  return loaded;
}

std::string shown(const PackageRecord& record) { return policy::spelled(record.kind, record.package, record.version); }

// The source with this version, as a person types it; empty: the newest, of an image what its tag means today.
Status set_version(policy::Source& source, std::string_view version) {
  using Kind = policy::Source::Kind;
  bool readable = false;
  switch (source.kind) {
    case Kind::npm:
      source.version = version.empty() ? std::string_view("latest") : version;
      readable = policy::read_npm_name(policy::spelled(source)).has_value();
      break;
    case Kind::pypi:
      source.version = version;
      readable = policy::read_pypi_name(policy::spelled(source)).has_value();
      break;
    case Kind::oci: {
      const policy::ImageParts parts = policy::image_parts(source.package);
      source.version.clear();
      if (version.starts_with("sha256:")) {
        source.package = parts.repository;  // nobody says which tag it had
        source.version = version;
      } else if (!version.empty()) {
        source.package = text::cat(parts.repository, ':', version);
      }
      readable = (!source.version.empty() || policy::is_tag(version)) &&
                 policy::read_image_name(policy::spelled(source)).has_value();
      break;
    }
  }
  if (!readable) {
    return fail(Errc::policy_invalid, text::cat("'", text::printable(version, 100), "' is no version"), {},
                source.kind == Kind::oci ? "give a tag, or the digest: sha256:..." : "give a version, as 1.2.3");
  }
  return {};
}

// The policy as it will be: another version, and what is installed for it.
Result<LoadedPolicy> moved(const LoadedPolicy& loaded, PackageRecord record) {
  LoadedPolicy out = loaded;
  Result<std::string> text = text_for(loaded, record);
  if (!text) {
    return std::unexpected(text.error());
  }
  out.text = std::move(*text);
  out.digest = sha256_text(out.text);
  out.policy.launch.source = source_for(*loaded.policy.launch.source, record);
  out.package = std::move(record);
  return out;
}

// Policy, record and snapshot of `next` count, and what counted before is what rollback goes back to. `kept_before`:
// what that was until now, where it was looked at.
Status switch_to(const Caller& caller, const LoadedPolicy& now, const LoadedPolicy& next, const Counting& before,
                 const Counting& after, const Counting* kept_before) {
  // Else rollback would go back to what counts already.
  if (before.record == after.record) {
    return fail(
        Errc::launch_changed,
        text::cat(shown(*next.package), " counts already: another update or rollback was faster, or was cut off"),
        now.location.path, "nothing was switched");
  }
  const Places kept = kept_places(caller, now);
  if (const auto folder = run::ensure_private_folder(parent_of(kept.record)); !folder) {
    return std::unexpected(folder.error());
  }
  std::vector<FileChange> changes;
  if (!before.record.empty()) {
    add_changes(kept, before, kept_before, changes);
  }
  Result<FileChange> policy = policy_change(next, next.text);
  if (!policy) {
    return std::unexpected(policy.error());
  }
  policy->before = now.digest;
  changes.push_back(std::move(*policy));
  const Places present = present_places(caller, now);
  add_changes(present, after, &before, changes);
  if (Status done = change_together(caller, now.location.path, changes); !done) {
    return done;
  }
  const auto uses = [&](const std::string& text, const std::string& path) {
    if (const auto record = formats::read_package_record(text, path)) {
      [[maybe_unused]] const Status known = add_package_user(caller, *record, path, now.location.path);
    }
  };
  uses(before.record, kept.record);
  uses(after.record, present.record);
  return {};
}

}  // namespace

Status may_update(const Caller& caller, const PolicyChoice& choice) {
  const Result<LoadedPolicy> loaded = load_with_source(caller, choice);
  return loaded ? Status() : std::unexpected(loaded.error());
}

Result<std::optional<OpenUpdate>> open_update(const ReviewRequest& request, std::string_view version,
                                              const InstallProgress& progress) {
  const Result<LoadedPolicy> loaded = load_with_source(request.caller, request.choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Result<std::optional<PackageRecord>> present = load_record(request.caller, *loaded);
  if (!present) {
    return std::unexpected(present.error());
  }
  LoadedPolicy wanted = *loaded;
  if (const Status fits = set_version(*wanted.policy.launch.source, version); !fits) {
    return std::unexpected(fits.error());
  }
  Result<Installed> installed = install_package(request.caller, wanted, InstallFrom::registry, progress);
  if (!installed) {
    return std::unexpected(installed.error());
  }
  if (*present && **present == installed->record) {
    return std::nullopt;
  }
  // Nobody's record names it yet, so that until then only the hold keeps it from `prune`.
  [[maybe_unused]] const Status known =
      add_package_user(request.caller, installed->record, record_path(request.caller, *loaded), loaded->location.path);
  Result<UniqueFd> hold = hold_package(request.caller, installed->record);
  if (!hold) {
    return std::unexpected(hold.error());
  }
  const std::string from = *present ? shown(**present) : policy::spelled(*loaded->policy.launch.source);
  std::string to = shown(installed->record);
  Result<LoadedPolicy> next = moved(*loaded, std::move(installed->record));
  if (!next) {
    return std::unexpected(next.error());
  }
  Result<OpenReview> open = open_review_of(request, std::move(*next), ReviewScope::differences);
  if (!open) {
    return std::unexpected(open.error());
  }
  return OpenUpdate{std::move(*open), from, std::move(to), std::move(*hold)};
}

Result<StoredSnapshot> finish_update(const Caller& caller, const OpenUpdate& update, const std::string& reviewer,
                                     bool unattended) {
  const LoadedPolicy& next = update.open.loaded;
  catalog::Snapshot snapshot =
      update.open.review.result({reviewer, rfc3339(static_cast<std::int64_t>(std::time(nullptr))), unattended});
  if (snapshot.launch.package != package_pin(*next.package)) {
    return fail(Errc::launch_changed, "the new launch was not accepted, so nothing was switched", next.location.path,
                "accept the item 'launch' in the review");
  }
  // As the file is now, and not as it was when the review began.
  const Result<LoadedPolicy> now = load_with_source(caller, {.name = {}, .file = next.location.path, .ceilings = {}});
  if (!now) {
    return std::unexpected(now.error());
  }
  const Result<std::string> text = text_for(*now, *next.package);
  if (!text || sha256_text(*text) != next.digest) {
    return fail(Errc::launch_changed, "the policy changed while it was reviewed", next.location.path, "update again");
  }
  const Result<Counting> before = read_all(present_places(caller, next));
  if (!before) {
    return std::unexpected(before.error());
  }
  const Counting after{formats::write_package_record(*next.package), formats::write_snapshot(snapshot), {}};
  LoadedPolicy present = *now;
  present.location = next.location;
  if (const Status switched = switch_to(caller, present, next, *before, after, nullptr); !switched) {
    return std::unexpected(switched.error());
  }
  return StoredSnapshot{present_places(caller, next).snapshot, sha256_text(after.snapshot)};
}

Result<RolledBack> roll_back(const Caller& caller, const PolicyChoice& choice) {
  const Result<LoadedPolicy> loaded = load_with_source(caller, choice);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  const Places kept = kept_places(caller, *loaded);
  const Result<Counting> after = read_all(kept);
  if (!after) {
    return std::unexpected(after.error());
  }
  if (after->record.empty()) {
    return fail(Errc::launch_failed, "there is nothing to go back to: this policy was not updated yet",
                loaded->location.path);
  }
  Result<PackageRecord> record = formats::read_package_record(after->record, kept.record);
  if (!record) {
    return std::unexpected(record.error());
  }
  const policy::Source& source = *loaded->policy.launch.source;
  const bool same = record->kind == policy::Source::Kind::oci ? policy::same_image(record->package, source.package)
                                                              : record->package == source.package;
  if (!same || record->kind != source.kind) {
    return fail(Errc::launch_failed, text::cat("what is kept is of another package, ", shown(*record)),
                place_in(loaded->policy, source.position));
  }
  if (!after->snapshot.empty()) {
    if (const auto read = formats::read_snapshot(after->snapshot, kept.snapshot); !read) {
      return std::unexpected(read.error());
    }
  }
  RolledBack out{policy::spelled(source), shown(*record), true};
  out.installed = is_installed(caller, *loaded, *record);
  Result<LoadedPolicy> next = moved(*loaded, std::move(*record));
  const Result<Counting> before = read_all(present_places(caller, *loaded));
  if (!next || !before) {
    return std::unexpected(next ? before.error() : next.error());
  }
  if (const Status switched = switch_to(caller, *loaded, *next, *before, *after, &*after); !switched) {
    return std::unexpected(switched.error());
  }
  return out;
}

}  // namespace cordon::app
