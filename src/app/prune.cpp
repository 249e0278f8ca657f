// SPDX-License-Identifier: Apache-2.0
#include "app/prune.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "app/package_store.hpp"
#include "app/package_tree.hpp"
#include "app/package_users.hpp"
#include "app/paths.hpp"
#include "app/session_context.hpp"
#include "base/text.hpp"
#include "formats/package_record.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

// As package_store.cpp calls what nothing leads to.
constexpr std::string_view kUnfinished = ".new-";

bool is_gone(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

// Where the policy has its record now, which was elsewhere once: the same path, where the policy cannot be read.
std::string present_record(const Caller& caller, const PackageUser& user) {
  const Result<LoadedPolicy> loaded = read_policy_file(caller, {.name = {}, .file = user.policy, .ceilings = {}});
  return loaded ? record_path(caller, *loaded) : user.record;
}

// Why this record keeps the package; empty: it does not.
std::string kept_by(const Caller& caller, const PackageUser& user, const std::string& folder) {
  if (is_gone(user.policy)) {
    return {};
  }
  const std::string place = is_gone(user.record) ? present_record(caller, user) : user.record;
  const std::string path = text::printable(place, 400);
  if (is_gone(place)) {
    return {};
  }
  const auto file = run::read_trusted(place, {.max_bytes = formats::kMaxRecordBytes});
  if (!file) {
    return text::cat(path, " cannot be read, and may name it");
  }
  const Result<formats::PackageRecord> record = formats::read_package_record(file->content, place);
  if (!record) {
    return text::cat(path, " cannot be understood, and may name it");
  }
  return store_place(caller, *record).folder == folder ? text::cat("used by ", path) : std::string();
}

void judge(const Caller& caller, StoredPackage& one) {
  if (file_name_of(one.folder).starts_with(kUnfinished)) {
    one.package = "an installation or a removal that was cut off";
    one.removable = true;
    one.why = "nothing leads to it";
    return;
  }
  const auto users = package_users(one.folder);
  if (!users || !*users) {
    one.why = users ? "nobody knows who uses it: it was installed by an older version; its next start or install tells"
                    : text::cat("nobody knows who uses it: ", users.error().to_string());
    return;
  }
  std::string gone;
  for (const PackageUser& user : **users) {
    if (is_gone(user.record)) {
      gone = text::cat("; ", text::printable(user.record, 400), ", which did, is gone or was moved");
    }
    one.package = text::printable(user.package, 400);
    one.why = kept_by(caller, user, one.folder);
    if (!one.why.empty()) {
      return;
    }
  }
  if (!hold_alone(one.folder)) {
    one.why = "a session, or a review, is at work with it";
    return;
  }
  one.removable = true;
  one.why = text::cat("no policy's record names it", gone);
}

void measure(StoredPackage& one) {
  std::error_code error;
  namespace fs = std::filesystem;
  for (fs::recursive_directory_iterator entry(one.folder, error), end; !error && entry != end; entry.increment(error)) {
    struct stat info{};
    if (::lstat(entry->path().c_str(), &info) == 0) {
      one.files += S_ISREG(info.st_mode) ? 1 : 0;
      one.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
  }
}

// Out of everybody's way first, whatever happens then.
Status remove_package(const StoredPackage& one) {
  std::string aside = text::cat(parent_of(one.folder), '/', kUnfinished, "XXXXXX");
  if (!file_name_of(one.folder).starts_with(kUnfinished)) {
    if (::mkdtemp(aside.data()) == nullptr || ::rename(one.folder.c_str(), (aside + "/old").c_str()) != 0) {
      return fail(Errc::file_unreadable, errno_text("rename", errno), one.folder);
    }
    return remove_tree(aside);
  }
  return remove_tree(one.folder);
}

Status check_store_folder(const Caller& caller) {
  const Result<std::string> folder = run::ensure_private_folder(caller.packages_folder());
  return folder ? Status() : std::unexpected(folder.error());
}

}  // namespace

Result<std::vector<StoredPackage>> stored_packages(const Caller& caller) {
  if (const Status own = check_store_folder(caller); !own) {
    return std::unexpected(own.error());
  }
  std::vector<StoredPackage> out;
  std::error_code error;
  namespace fs = std::filesystem;
  for (const fs::directory_entry& kind : fs::directory_iterator(caller.packages_folder(), error)) {
    if (!fs::is_directory(kind.symlink_status(error))) {
      continue;
    }
    for (const fs::directory_entry& place : fs::directory_iterator(kind.path(), error)) {
      if (!fs::is_directory(place.symlink_status(error))) {
        continue;
      }
      StoredPackage one;
      one.folder = place.path().string();
      one.package = text::printable(text::cat(kind.path().filename().string(), ':', file_name_of(one.folder)), 200);
      judge(caller, one);
      measure(one);
      out.push_back(std::move(one));
    }
  }
  if (error) {
    return fail(Errc::file_unreadable, error.message(), caller.packages_folder());
  }
  std::ranges::sort(out, [](const StoredPackage& a, const StoredPackage& b) {
    return a.removable != b.removable ? a.removable : std::pair(a.package, a.folder) < std::pair(b.package, b.folder);
  });
  return out;
}

Result<Pruned> prune_packages(const Caller& caller, const std::vector<StoredPackage>& packages) {
  const Result<StoreLock> lock = StoreLock::take(caller, [] {});
  if (!lock) {
    return std::unexpected(lock.error());
  }
  Pruned out;
  for (const StoredPackage& listed : packages) {
    StoredPackage one = listed;
    one.removable = false;
    if (!listed.removable || is_gone(listed.folder)) {
      continue;
    }
    judge(caller, one);
    // Held while it is moved: whoever starts it now either has it or finds that it is not there.
    const std::optional<UniqueFd> alone = one.removable ? hold_alone(one.folder) : std::nullopt;
    if (!alone) {
      out.kept.push_back(text::cat(one.package, ": ", one.removable ? std::string("somebody took it up") : one.why));
      continue;
    }
    if (const Status removed = remove_package(one); !removed) {
      out.kept.push_back(text::cat(one.package, ": ", removed.error().to_string()));
      continue;
    }
    ++out.packages;
    out.bytes += one.bytes;
  }
  return out;
}

}  // namespace cordon::app
