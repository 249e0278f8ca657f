// SPDX-License-Identifier: Apache-2.0
#include "app/package_store.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "app/package_tree.hpp"
#include "app/paths.hpp"
#include "app/store_check.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"
#include "run/files.hpp"
#include "run/trust.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kStagingPrefix = ".new-";

std::string kind_folder(const Caller& caller, std::string_view kind) {
  return text::cat(caller.packages_folder(), '/', kind);
}

Status write_compiled(const StorePlace& place, const formats::PackageRecord& record) {
  if (record.kind != policy::Source::Kind::pypi) {
    return {};
  }
  const Result<TreeDigest> digest = record_digest(record, place.tree);
  if (!digest) {
    return std::unexpected(digest.error());
  }
  return run::write_atomic(place.compiled, digest->compiled + '\n');
}

// The disk has to have it before anything says that it is there.
void sync_folder(const std::string& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) {
    ::syncfs(folder.get());
  }
}

}  // namespace

bool is_folder(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

StorePlace place_at(const std::string& folder) {
  return {.folder = folder,
          .tree = folder + "/tree",
          .witness = folder + "/witness",
          .users = folder + "/users",
          .compiled = folder + "/compiled"};
}

StorePlace store_place(const Caller& caller, const formats::PackageRecord& record) {
  // Scripts change the files, so the same lock file with other scripts is another place.
  const std::string bound = record.scripts.empty()
                                ? record.lock_digest
                                : sha256_text(text::cat(record.lock_digest, '\n', text::join(record.scripts, "\n")));
  const std::string key = bound.substr(bound.find(':') + 1);
  return place_at(text::cat(kind_folder(caller, policy::name(record.kind)), '/', key));
}

Result<TreeDigest> record_digest(const formats::PackageRecord& record, const std::string& tree, std::uint64_t most) {
  const bool python = record.kind == policy::Source::Kind::pypi;
  return content_digest(tree, python ? Compiled::apart : Compiled::counted, most);
}

Result<StoreLock> StoreLock::take(const Caller& caller, const std::function<void()>& waiting) {
  const Result<std::string> folder = run::ensure_private_folder(caller.packages_folder());
  if (!folder) {
    return std::unexpected(folder.error());
  }
  StoreLock out;
  const std::string path = *folder + "/lock";
  out.fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out.fd_) {
    return fail(Errc::file_unreadable, errno_text("open", errno), path);
  }
  if (::flock(out.fd_.get(), LOCK_EX | LOCK_NB) == 0) {
    return out;
  }
  waiting();
  while (::flock(out.fd_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return fail(Errc::file_unreadable, errno_text("flock", errno), path);
    }
  }
  return out;
}

Result<Staging> Staging::make(const Caller& caller, std::string_view kind) {
  const Result<std::string> folder = run::ensure_private_folder(kind_folder(caller, kind));
  if (!folder) {
    return std::unexpected(folder.error());
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, error)) {
    if (file_name_of(entry.path().string()).starts_with(kStagingPrefix)) {
      [[maybe_unused]] const Status removed = remove_tree(entry.path().string());
    }
  }
  std::string name = text::cat(*folder, '/', kStagingPrefix, "XXXXXX");
  if (::mkdtemp(name.data()) == nullptr) {
    return fail(Errc::file_unreadable, errno_text("mkdtemp", errno), *folder);
  }
  return Staging(std::move(name));
}

Staging::Staging(Staging&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

Staging::~Staging() {
  if (!folder_.empty()) {
    [[maybe_unused]] const Status removed = remove_tree(folder_);
  }
}

Status Staging::publish(const Caller& caller, const formats::PackageRecord& record) {
  const StorePlace place = store_place(caller, record);
  const std::string whole = folder_ + "/whole";
  const StorePlace staged = place_at(whole);
  const auto broken = [&](std::string_view what) {
    return fail(Errc::file_unreadable, errno_text(what, errno), whole);
  };
  if (::mkdir(whole.c_str(), 0700) != 0 || ::rename((folder_ + "/tree").c_str(), staged.tree.c_str()) != 0) {
    return broken("rename");
  }
  if (Status kept = write_compiled(staged, record); !kept) {
    return kept;
  }
  const Result<std::string> table = tree_table(staged.tree);
  if (!table) {
    return std::unexpected(table.error());
  }
  if (Status kept = remember_tree(staged, record.tree_digest, *table); !kept) {
    return kept;
  }
  sync_folder(whole);
  if (is_folder(place.folder)) {
    // Others may need the same package, and nobody else remembers them.
    if (::link(place.users.c_str(), staged.users.c_str()) != 0 && errno != ENOENT) {
      return broken("link");
    }
    // Whoever runs from the old files keeps them open; nobody is led to a half of them.
    if (::rename(place.folder.c_str(), (folder_ + "/old").c_str()) != 0) {
      return broken("rename");
    }
  }
  if (::rename(whole.c_str(), place.folder.c_str()) != 0) {
    return broken("rename");
  }
  sync_folder(parent_of(place.folder));
  return {};
}

}  // namespace cordon::app
