// SPDX-License-Identifier: Apache-2.0
// install, as far as it is the same for all packages: what a tool leaves behind in the sandbox is read as something
// foreign, and becomes part of the store as a whole or not at all.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <cerrno>
#include <utility>

#include "app/install.hpp"
#include "app/package_fetch.hpp"
#include "app/package_store.hpp"
#include "app/package_tree.hpp"
#include "app/store_check.hpp"
#include "base/text.hpp"
#include "core/policy/source.hpp"

namespace cordon::app {
namespace {

// What was recorded and still is what the policy wants.
std::optional<formats::PackageRecord> usable(const policy::Source& source,
                                             Result<std::optional<formats::PackageRecord>> found) {
  if (!found || !*found || (*found)->package != source.package || (*found)->kind != source.kind ||
      (*found)->scripts != scripts_of(source) || (policy::is_pinned(source) && (*found)->version != source.version)) {
    return std::nullopt;
  }
  return std::move(*found);
}

Status finish(PackageFetch& fetch, const std::string& tree, const policy::Source& source,
              const std::optional<formats::PackageRecord>& recorded, formats::PackageRecord& record) {
  // First of all: a script may have put a link in the place of the tree or of a folder in it, which leads to the
  // user's own files.
  Status done = seal_tree(tree);
  done = done ? fetch.tidy(tree) : done;
  done = done ? seal_tree(tree) : done;
  if (!done) {
    return done;
  }
  Result<TreeDigest> digest = record_digest(record, tree);
  if (!digest) {
    return std::unexpected(digest.error());
  }
  record.tree_digest = std::move(digest->digest);
  if (recorded && recorded->platform == record.platform && recorded->tree_digest != record.tree_digest) {
    return fail(Errc::launch_changed, "the recorded lock file now gives other files than were recorded",
                policy::spelled(source), "mcp-cordon update NAME installs anew and shows what changed");
  }
  return {};
}

// `recorded`: to be fetched exactly so.
Result<Installed> fetch_package(const Caller& caller, const LoadedPolicy& loaded, PackageFetch& fetch,
                                const std::optional<formats::PackageRecord>& recorded) {
  const policy::Source& source = *loaded.policy.launch.source;
  Result<Staging> staging = Staging::make(caller, policy::name(source.kind));
  if (!staging) {
    return std::unexpected(staging.error());
  }
  const std::string tree = staging->folder() + "/tree";
  if (::mkdir(tree.c_str(), 0755) != 0) {
    return fail(Errc::file_unreadable, errno_text("mkdir", errno), tree);
  }
  Installed out;
  out.record.server = loaded.policy.server;
  out.record.kind = source.kind;
  out.record.package = source.package;
  out.record.scripts = scripts_of(source);
  out.record.platform = platform_name();
  Status done = fetch.fetch(staging->folder(), recorded, out);
  done = done ? finish(fetch, tree, source, recorded, out.record) : done;
  done = done ? staging->publish(caller, out.record) : done;
  if (!done) {
    return std::unexpected(done.error());
  }
  return out;
}

}  // namespace

std::vector<std::string> scripts_of(const policy::Source& source) {
  return source.scripts == policy::Source::Scripts::allow ? source.script_packages : std::vector<std::string>();
}

std::string platform_name() {
  utsname machine{};
  return ::uname(&machine) == 0 ? text::cat("linux-", static_cast<const char*>(machine.machine)) : "linux";
}

bool disk_is_full(const std::string& folder) {
  constexpr std::uint64_t kRoom = 1'000'000;
  struct statvfs info{};
  return ::statvfs(folder.c_str(), &info) == 0 &&
         (std::uint64_t{info.f_bavail} * info.f_frsize < kRoom || (info.f_files != 0 && info.f_favail == 0));
}

std::unexpected<Error> full_disk(const std::string& folder) {
  return fail(Errc::launch_failed, "the disk is full", folder, "make room there, and try again");
}

Result<Installed> install_package(const Caller& caller, const LoadedPolicy& loaded, InstallFrom from,
                                  const InstallProgress& progress) {
  CORDON_ASSERT(loaded.policy.launch.source.has_value());
  const policy::Source& source = *loaded.policy.launch.source;
  if (source.kind == policy::Source::Kind::oci) {
    return install_image(caller, loaded, from, progress);
  }
  const Result<StoreLock> lock =
      StoreLock::take(caller, [&progress] { progress.say("another installation is under way; waiting for it"); });
  if (!lock) {
    return std::unexpected(lock.error());
  }
  std::optional<formats::PackageRecord> recorded;
  if (from == InstallFrom::record) {
    recorded = usable(source, load_record(caller, loaded));
  }
  if (recorded && check_store(caller, *recorded, TreeCheck::full, "")) {
    return Installed{std::move(*recorded), 0, true};
  }
  const std::unique_ptr<PackageFetch> fetch = source.kind == policy::Source::Kind::pypi
                                                  ? pypi_fetch(caller, source, progress)
                                                  : npm_fetch(caller, source, progress);
  return fetch_package(caller, loaded, *fetch, recorded);
}

}  // namespace cordon::app
