// SPDX-License-Identifier: Apache-2.0
#include "app/install.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "app/grants.hpp"
#include "app/image_engine.hpp"
#include "app/package_store.hpp"
#include "app/package_users.hpp"
#include "app/paths.hpp"
#include "app/store_check.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "formats/policy_yaml.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

// Offset of a place in the text; its column counts characters. npos when there is none.
std::size_t offset_of(std::string_view text, const policy::Position& position) {
  std::size_t at = 0;
  for (int line = 1; line < position.line; ++line) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) {
      return at;
    }
    ++at;
  }
  for (int column = 1; column < position.column && at < text.size(); ++column) {
    const std::size_t length = text::decode_utf8(text, at).length;
    at += length == 0 ? 1 : length;
  }
  return at;
}

}  // namespace

policy::Source source_for(const policy::Source& source, const formats::PackageRecord& record) {
  policy::Source out = source;
  if (!source.allow_unpinned) {
    out.version = record.version;
  }
  if (source.kind == policy::Source::Kind::oci) {
    out.package = record.package;
  }
  return out;
}

Result<std::string> text_for(const LoadedPolicy& loaded, const formats::PackageRecord& record) {
  return with_source(loaded, source_for(*loaded.policy.launch.source, record));
}

Result<std::string> with_version(const LoadedPolicy& loaded, std::string_view version) {
  policy::Source wanted = *loaded.policy.launch.source;
  wanted.version = version;
  return with_source(loaded, wanted);
}

Result<std::string> with_source(const LoadedPolicy& loaded, const policy::Source& wanted) {
  const policy::Source& source = *loaded.policy.launch.source;
  if (wanted == source) {
    return loaded.text;
  }
  const std::string before = policy::spelled(source);
  const std::string after = policy::spelled(wanted);
  std::string out = loaded.text;
  std::size_t at = offset_of(out, source.position);
  if (at < out.size() && (out[at] == '"' || out[at] == '\'')) {
    ++at;
  }
  const auto no_place = [&] {
    return fail(Errc::policy_invalid, "the package does not stand there in one piece",
                place_in(loaded.policy, source.position), text::cat("write ", after, " there yourself"));
  };
  if (at >= out.size() || !std::string_view(out).substr(at).starts_with(before)) {
    return no_place();
  }
  out.replace(at, before.size(), after);
  // The rest has to mean what it meant.
  Result<policy::Policy> read = formats::read_policy(out, loaded.policy.file);
  policy::Policy expected = loaded.policy;
  expected.launch.source = wanted;
  if (!read || *read != expected) {
    return no_place();
  }
  return out;
}

Result<FileChange> policy_change(const LoadedPolicy& loaded, std::string text) {
  struct stat info{};
  if (::lstat(loaded.location.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(Errc::file_unreadable, errno_text("lstat", errno), loaded.location.path);
  }
  return FileChange{loaded.location.path, std::move(text), info.st_mode & 0777};
}

bool is_installed(const Caller& caller, const LoadedPolicy& loaded, const formats::PackageRecord& record) {
  if (record.kind != policy::Source::Kind::oci) {
    return check_store(caller, record, TreeCheck::quick, "").has_value();
  }
  const Result<ImageEngine> engine = image_engine(loaded);
  return engine && has_image(caller, *engine, image_reference(record.package, record.version));
}

Result<std::string> recorded_before(const Caller& caller, const LoadedPolicy& loaded) {
  const auto file = run::read_trusted_if_present(record_path(caller, loaded), {.max_bytes = formats::kMaxRecordBytes});
  if (!file) {
    return std::unexpected(file.error());
  }
  return *file ? sha256_text((*file)->content) : std::string();
}

Result<Pinned> keep_record(const Caller& caller, const LoadedPolicy& loaded, const formats::PackageRecord& record,
                           const std::string& before) {
  Pinned out;
  out.record_path = record_path(caller, loaded);
  if (snapshot_to_write(caller, loaded.location, loaded.policy.catalog.snapshot).bound) {
    if (const auto folder = run::ensure_private_folder(parent_of(out.record_path)); !folder) {
      return std::unexpected(folder.error());
    }
  }
  // Nobody's edit or update is lost that was made while the package was fetched.
  std::vector<FileChange> changes = {
      {.path = out.record_path, .text = formats::write_package_record(record), .before = before}};
  const policy::Source& source = *loaded.policy.launch.source;
  out.policy_written = !policy::is_pinned(source) && !source.allow_unpinned;
  if (out.policy_written) {
    Result<std::string> pinned = text_for(loaded, record);
    Result<FileChange> change =
        pinned ? policy_change(loaded, std::move(*pinned)) : Result<FileChange>(std::unexpected(pinned.error()));
    if (!change) {
      return std::unexpected(change.error());
    }
    change->before = loaded.digest;
    changes.push_back(std::move(*change));
  } else {
    changes.push_back({.path = loaded.location.path, .before = loaded.digest, .stays = true});
  }
  if (const Status written = change_together(caller, loaded.location.path, changes); !written) {
    return std::unexpected(written.error());
  }
  // Not knowing costs room in the store, nothing else.
  [[maybe_unused]] const Status known = add_package_user(caller, record, out.record_path, loaded.location.path);
  return out;
}

}  // namespace cordon::app
