// SPDX-License-Identifier: Apache-2.0
// The npm half of install: npm runs in a sandbox, and what it leaves behind is read as something foreign.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "app/expand.hpp"
#include "app/install.hpp"
#include "app/npm_client.hpp"
#include "app/npm_errors.hpp"
#include "app/package_launch.hpp"
#include "app/package_store.hpp"
#include "app/package_tool.hpp"
#include "app/package_tree.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"
#include "core/json/read.hpp"
#include "core/json/write.hpp"
#include "core/policy/source.hpp"
#include "formats/npm_lock.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kInsideTree = "/home/cordon/tree";

std::string platform_name() {
  utsname machine{};
  return ::uname(&machine) == 0 ? text::cat("linux-", static_cast<const char*>(machine.machine)) : "linux";
}

std::vector<std::string> scripts_of(const policy::Source& source) {
  return source.scripts == policy::Source::Scripts::allow ? source.script_packages : std::vector<std::string>();
}

// npm may take it for a fault of the network.
bool disk_is_full(const std::string& folder) {
  constexpr std::uint64_t kRoom = 1'000'000;
  struct statvfs info{};
  return ::statvfs(folder.c_str(), &info) == 0 &&
         (std::uint64_t{info.f_bavail} * info.f_frsize < kRoom || (info.f_files != 0 && info.f_favail == 0));
}

struct Npm {
  Program node = {};
  Program npm = {};
};

// The npm that a shell would start, and the node that it would be started with.
Result<Npm> find_npm(const Caller& caller) {
  Result<Program> npm = find_program("npm", caller);
  Result<Program> node = npm ? find_program("node", caller) : Result<Program>(std::unexpected(npm.error()));
  if (!node) {
    Error error = node.error();
    error.remedy = "install node and npm 7 or newer";
    return std::unexpected(std::move(error));
  }
  return Npm{std::move(*node), std::move(*npm)};
}

class NpmInstall {
 public:
  NpmInstall(const Caller& caller, const LoadedPolicy& loaded, const InstallProgress& progress)
      : caller_(caller), source_(*loaded.policy.launch.source), progress_(progress) {
    out_.record.server = loaded.policy.server;
    out_.record.kind = policy::Source::Kind::npm;
    out_.record.package = source_.package;
    out_.record.scripts = scripts_of(source_);
    out_.record.platform = platform_name();
  }

  // `recorded`: to be fetched exactly so.
  Result<Installed> run(const std::optional<formats::PackageRecord>& recorded) {
    Result<Staging> staging = Staging::make(caller_, "npm");
    if (!staging) {
      return std::unexpected(staging.error());
    }
    Status done = prepare(staging->folder(), recorded);
    done = done ? fetch(recorded ? "ci" : "install") : done;
    done = done ? read_lock(recorded) : done;
    done = done ? run_scripts() : done;
    done = done ? finish(recorded) : done;
    done = done ? staging->publish(caller_, out_.record) : done;
    if (!done) {
      return std::unexpected(done.error());
    }
    return std::move(out_);
  }

 private:
  Status prepare(const std::string& folder, const std::optional<formats::PackageRecord>& recorded) {
    folder_ = folder;
    tree_ = folder + "/tree";
    Result<Npm> npm = find_npm(caller_);
    if (!npm) {
      return std::unexpected(npm.error());
    }
    npm_ = std::move(*npm);
    Result<NpmClient> client = npm_client(caller_);
    if (!client) {
      return std::unexpected(client.error());
    }
    client_ = std::move(*client);
    if (::mkdir(tree_.c_str(), 0755) != 0) {
      return fail(Errc::file_unreadable, errno_text("mkdir", errno), tree_);
    }
    for (const auto& [name, content] : client_.files) {
      if (Status written = run::write_atomic(text::cat(folder, '/', name), content); !written) {
        return written;
      }
    }
    return write_manifest(recorded);
  }

  Status write_manifest(const std::optional<formats::PackageRecord>& recorded) {
    json::Writer manifest;
    manifest.begin_object();
    manifest.member("name", "mcp-cordon-package").member("version", "0.0.0").member_bool("private", true);
    if (recorded) {
      manifest.key("dependencies").begin_object().member(recorded->package, recorded->version).end_object();
    }
    manifest.end_object();
    if (Status written = run::write_atomic(tree_ + "/package.json", manifest.take()); !written || !recorded) {
      return written;
    }
    return run::write_atomic(tree_ + "/package-lock.json", recorded->lock);
  }

  PackageTool tool(std::vector<std::string> words) const {
    PackageTool out;
    out.argv = {npm_.node.path, npm_.npm.real};
    out.argv.insert(out.argv.end(), words.begin(), words.end());
    // Where no user settings are, so that the settings are those that stand here.
    for (const char* option :
         {"--no-audit", "--no-fund", "--no-update-notifier", "--omit=dev", "--lockfile-version=3", "--save-exact",
          "--omit-lockfile-registry-resolved", "--install-strategy=hoisted", "--cache=/home/cordon/cache",
          "--userconfig=/home/cordon/no-npmrc", "--globalconfig=/home/cordon/no-global-npmrc", "--logs-max=0",
          "--progress=false", "--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000",
          "--fetch-timeout=60000"}) {
      out.argv.emplace_back(option);
    }
    // A repository has no digest, and preparing one runs its code beside the registry's token.
    out.argv.push_back(text::cat("--git=", kNoGit));
    out.executable = npm_.node.real;
    out.home = folder_;
    out.cwd = kInsideTree;
    return out;
  }

  Status fetch(std::string_view how) {
    progress_.say(text::cat("fetching ", policy::spelled(source_), " from ", client_.registry));
    std::vector<std::string> words = {std::string(how), "--ignore-scripts", "--loglevel=http"};
    if (how == "install") {
      words.push_back(policy::spelled(source_));
    }
    PackageTool npm = tool(std::move(words));
    npm.environment = client_.environment;
    npm.network = client_.network;
    npm.whom = "npm's settings";
    std::size_t files = 0;
    npm.heard = [this, &files](std::string_view line) {
      if (line.starts_with("npm http fetch GET 200 ")) {
        progress_.fetched(++files);
      }
    };
    const Result<ToolEnd> ended = run_package_tool(caller_, npm);
    return judge(ended);
  }

  Status judge(const Result<ToolEnd>& ended) const {
    if (!ended) {
      return std::unexpected(ended.error());
    }
    if (ended->status != 0 && disk_is_full(folder_)) {
      return fail(Errc::launch_failed, "the disk is full", folder_, "make room there, and try again");
    }
    if (ended->status != 0) {
      Error error = npm_failure(policy::spelled(source_), ended->status, ended->lines);
      error.detail = Masker(client_.secrets).mask(error.detail);
      return std::unexpected(std::move(error));
    }
    return {};
  }

  Status read_lock(const std::optional<formats::PackageRecord>& recorded) {
    std::string text;
    if (recorded) {
      text = recorded->lock;
    } else {
      const std::string path = tree_ + "/package-lock.json";
      const auto file = run::read_trusted(path, {.max_bytes = formats::kNpmLockLimits.max_bytes});
      if (!file) {
        return std::unexpected(file.error());
      }
      text = file->content;
    }
    Result<formats::NpmLock> lock =
        formats::read_npm_lock(text, recorded ? "the recorded lock file" : "package-lock.json");
    if (!lock) {
      return std::unexpected(lock.error());
    }
    const formats::LockedPackage* main = lock->find(text::cat("node_modules/", source_.package));
    if (main == nullptr || !policy::is_exact_version(main->version)) {
      return fail(Errc::launch_failed, "npm installed something else", policy::spelled(source_));
    }
    for (const formats::LockedPackage& package : lock->packages) {
      if (package.wants_scripts && std::ranges::find(out_.record.scripts, package.name) == out_.record.scripts.end()) {
        progress_.say(text::cat(text::printable(package.name, 214),
                                " would run scripts of its own while it is installed; they are not run (scripts: "
                                "{allow: [...]} in launch.source would)"));
      }
    }
    out_.record.version = main->version;
    out_.record.lock = std::move(lock->canonical);
    out_.record.lock_digest = std::move(lock->digest);
    out_.packages = lock->packages.size();
    return {};
  }

  // Without a network and without what the registry was shown.
  Status run_scripts() {
    if (out_.record.scripts.empty()) {
      return {};
    }
    progress_.say(text::cat("running the scripts of ", text::join(out_.record.scripts, ", ")));
    std::vector<std::string> words = {"rebuild", "--foreground-scripts", "--offline"};
    words.insert(words.end(), out_.record.scripts.begin(), out_.record.scripts.end());
    return judge(run_package_tool(caller_, tool(std::move(words))));
  }

  Status finish(const std::optional<formats::PackageRecord>& recorded) {
    // First of all: a script may have put a link in the place of the tree or of a folder in it, which leads to the
    // user's own files.
    if (Status sealed = seal_tree(tree_); !sealed) {
      return sealed;
    }
    // What npm writes for itself differs from version to version, and no package reads it.
    for (const char* name : {"/package.json", "/package-lock.json", "/node_modules/.package-lock.json"}) {
      ::unlink((tree_ + name).c_str());
    }
    Result<TreeDigest> digest = content_digest(tree_);
    if (!digest) {
      return std::unexpected(digest.error());
    }
    out_.record.tree_digest = std::move(digest->digest);
    if (recorded && recorded->platform == out_.record.platform && recorded->tree_digest != out_.record.tree_digest) {
      return fail(Errc::launch_changed, "the recorded lock file now gives other files than were recorded",
                  policy::spelled(source_), "mcp-cordon update NAME installs anew and shows what changed");
    }
    return {};
  }

  const Caller& caller_;
  const policy::Source& source_;
  const InstallProgress& progress_;
  std::string folder_ = {};
  std::string tree_ = {};
  Npm npm_ = {};
  NpmClient client_ = {};
  Installed out_ = {};
};

// What was recorded and still is what the policy wants.
std::optional<formats::PackageRecord> usable(const policy::Source& source,
                                             Result<std::optional<formats::PackageRecord>> found) {
  if (!found || !*found || (*found)->package != source.package || (*found)->kind != source.kind ||
      (*found)->scripts != scripts_of(source) || (policy::is_pinned(source) && (*found)->version != source.version)) {
    return std::nullopt;
  }
  return std::move(*found);
}

}  // namespace

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
  return NpmInstall(caller, loaded, progress).run(recorded);
}

}  // namespace cordon::app
