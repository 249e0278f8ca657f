// SPDX-License-Identifier: Apache-2.0
// install with npm, which runs in a sandbox.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/expand.hpp"
#include "app/npm_client.hpp"
#include "app/npm_errors.hpp"
#include "app/package_fetch.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"
#include "core/policy/source.hpp"
#include "formats/npm_lock.hpp"
#include "run/files.hpp"

namespace cordon::app {
namespace {

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

class NpmFetch final : public PackageFetch {
 public:
  NpmFetch(const Caller& caller, const policy::Source& source, const InstallProgress& progress)
      : caller_(caller), source_(source), progress_(progress) {}

  Status fetch(const std::string& folder, const std::optional<formats::PackageRecord>& recorded,
               Installed& out) override {
    Status done = prepare(folder, recorded);
    done = done ? download(recorded ? "ci" : "install") : done;
    done = done ? read_lock(recorded, out) : done;
    return done ? run_scripts(out.record.scripts) : done;
  }

  // What npm writes for itself differs from version to version, and no package reads it.
  Status tidy(const std::string& tree) override {
    for (const char* name : {"/package.json", "/package-lock.json", "/node_modules/.package-lock.json"}) {
      ::unlink((tree + name).c_str());
    }
    return {};
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
    out.runtime = "node";
    return out;
  }

  Status download(std::string_view how) {
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
      return full_disk(folder_);
    }
    if (ended->status != 0) {
      Error error = npm_failure(policy::spelled(source_), ended->status, ended->lines);
      error.detail = Masker(client_.secrets).mask(error.detail);
      return std::unexpected(std::move(error));
    }
    return {};
  }

  Status read_lock(const std::optional<formats::PackageRecord>& recorded, Installed& out) const {
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
      if (package.wants_scripts && std::ranges::find(out.record.scripts, package.name) == out.record.scripts.end()) {
        progress_.say(text::cat(text::printable(package.name, 214),
                                " would run scripts of its own while it is installed; they are not run (scripts: "
                                "{allow: [...]} in launch.source would)"));
      }
    }
    out.record.version = main->version;
    out.record.lock = std::move(lock->canonical);
    out.record.lock_digest = std::move(lock->digest);
    out.packages = lock->packages.size();
    return {};
  }

  // Without a network and without what the registry was shown.
  Status run_scripts(const std::vector<std::string>& packages) const {
    if (packages.empty()) {
      return {};
    }
    progress_.say(text::cat("running the scripts of ", text::join(packages, ", ")));
    std::vector<std::string> words = {"rebuild", "--foreground-scripts", "--offline"};
    words.insert(words.end(), packages.begin(), packages.end());
    return judge(run_package_tool(caller_, tool(std::move(words))));
  }

  const Caller& caller_;
  const policy::Source& source_;
  const InstallProgress& progress_;
  std::string folder_ = {};
  std::string tree_ = {};
  Npm npm_ = {};
  NpmClient client_ = {};
};

}  // namespace

std::unique_ptr<PackageFetch> npm_fetch(const Caller& caller, const policy::Source& source,
                                        const InstallProgress& progress) {
  return std::make_unique<NpmFetch>(caller, source, progress);
}

}  // namespace cordon::app
