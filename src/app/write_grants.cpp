// SPDX-License-Identifier: Apache-2.0
#include "app/write_grants.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "app/command_output.hpp"
#include "app/expand.hpp"
#include "app/grants.hpp"
#include "app/named_files.hpp"
#include "app/paths.hpp"
#include "app/way.hpp"
#include "base/text.hpp"
#include "run/trust.hpp"

namespace cordon::app {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append(std::vector<std::string>& to, const std::vector<NamedFile>& files) {
  for (const NamedFile& file : files) {
    append(to, file.way);
  }
}

// What the names of files and folders lead to. Each is looked up once, since many paths have the same folders above
// them.
class Objects {
 public:
  // The same folder or file under another name, for example through a bind mount.
  bool same(const std::string& a, const std::string& b) {
    const Object& first = of(a);
    return first && first == of(b);
  }

  // Is `path` the folder, or below it, by name or by what the names lead to?
  bool lies_within(std::string path, const std::string& folder) {
    if (is_within(path, folder)) {
      return true;
    }
    for (; path != "/"; path = parent_of(path)) {
      if (same(path, folder)) {
        return true;
      }
    }
    return false;
  }

 private:
  using Object = std::optional<std::pair<dev_t, ino_t>>;

  const Object& of(const std::string& path) {
    const auto [entry, made] = known_.try_emplace(path);
    struct stat info{};
    if (made && ::stat(path.c_str(), &info) == 0) {
      entry->second.emplace(info.st_dev, info.st_ino);
    }
    return entry->second;
  }

  std::map<std::string, Object> known_ = {};
};

// With the folders in it, two levels deep: a bind mount of one of them has none of our folders above it. What lies
// there as a symlink (a policy that is kept elsewhere) is ours where it leads, too.
// Each level is read by itself: a folder of another session of ours that is gone before it is opened (ssh-keygen's, a
// launch's) does not end the reading of the others.
void add_entries(const std::string& path, int levels, int& most, OwnPaths& out) {
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  std::vector<std::string> folders;
  for (const std::filesystem::directory_iterator end; !error && entry != end && --most > 0; entry.increment(error)) {
    std::error_code ignored;
    std::string name = entry->path().string();
    const bool link = entry->is_symlink(ignored);
    if (link) {
      out.files.push_back(name);
    }
    if (entry->is_directory(ignored)) {
      out.folders.push_back(name);
      if (!link && levels > 1) {
        folders.push_back(std::move(name));
      }
    }
  }
  for (const std::string& folder : folders) {
    add_entries(folder, levels - 1, most, out);
  }
}

void add_folder(const std::string& path, OwnPaths& out) {
  constexpr int kLevels = 2;
  int most = 4096;
  out.folders.push_back(path);
  add_entries(path, kLevels, most, out);
}

std::vector<std::string> ways(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    append(out, way_to(path));
  }
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

// A bare name is searched anew at every launch: who can write to a folder that is looked at earlier decides the find.
void add_searched(const std::string& found, const Caller& caller, OwnPaths& own) {
  const auto path = caller.environment.find("PATH");
  if (path == caller.environment.end()) {
    return;
  }
  for (const std::string_view folder : text::split(path->second, ':')) {
    if (!folder.starts_with('/')) {
      continue;
    }
    const std::string candidate = text::cat(normalised(folder), '/', file_name_of(found));
    if (candidate == found) {
      return;
    }
    own.files.push_back(candidate);
  }
}

void add_secret_paths(const policy::Secret& secret, const Caller& caller, OwnPaths& own) {
  if (secret.source == policy::Secret::Source::file) {
    if (const Result<std::string> path = expand_home(secret.from, caller.home)) {
      own.files.push_back(*path);
      own.single.push_back(*path);
    }
  }
  if (secret.source != policy::Secret::Source::command || secret.command.empty()) {
    return;
  }
  // Outside, nothing is mounted, and a word may also name a folder that the program reads.
  const std::vector<sandbox::Mount> none;
  const std::string program = system_program(secret.command[0]);
  if (!program.empty()) {
    own.files.push_back(program);
    append(own.files, interpreters(program, {none, {}, std::string(kSecretPath)}));
  }
  append(own.files, named_files(secret.command, {none, {}, {}}));
  for (const std::string& word : secret.command) {
    struct stat info{};
    if (word.starts_with('/') && ::stat(word.c_str(), &info) == 0 && word.find_first_not_of('/') != std::string::npos) {
      own.files.push_back(word);
    }
  }
}

std::unexpected<Error> reached(const policy::Policy& policy, const policy::Grant& grant, const std::string& path,
                               const std::string& hit) {
  return fail(Errc::policy_invalid,
              text::cat("the write grant '", text::printable(path), "' reaches '", text::printable(hit),
                        "', which decides what the next launch does"),
              place_in(policy, grant.position), "grant a folder that holds only the server's data");
}

Status check_single(const std::vector<std::string>& grants, const OwnPaths& own) {
  for (const std::string& path : own.single) {
    struct stat file{};
    if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink < 2) {
      continue;
    }
    for (const std::string& grant : grants) {
      struct stat place{};
      if (::stat(grant.c_str(), &place) != 0 || place.st_dev != file.st_dev) {
        continue;
      }
      const std::string word = run::shell_word(path);
      return fail(Errc::file_untrusted,
                  text::cat("the file has ", file.st_nlink, " names; one could lie in the write grant '",
                            text::printable(grant), "'"),
                  text::printable(path), text::cat("cp -p ", word, " ", word, ".new && mv ", word, ".new ", word));
    }
  }
  return {};
}

}  // namespace

OwnPaths own_paths(const Caller& caller, const std::string& policy_file, const std::string& snapshot_file) {
  OwnPaths out;
  out.files = {caller.executable, caller.stage_path(), policy_file, snapshot_file};
  out.single = {policy_file, snapshot_file};
  if (!caller.data_home.empty()) {
    add_folder(caller.data_home + "/mcp-cordon", out);  // packages, and what rollback goes back to
  }
  for (const std::string& folder :
       {caller.config_folder(), caller.state_folder(), caller.system_config, caller.share_folder()}) {
    add_folder(folder, out);
  }
  return out;
}

void add_launch_paths(const policy::Policy& policy, const Caller& caller, const sandbox::LaunchSpec& spec,
                      const std::string& search_path, OwnPaths& own) {
  const View view{spec.mounts, spec.cwd, search_path};
  if (spec.image.reference.empty()) {
    own.files.push_back(spec.argv[0]);
    own.files.push_back(spec.executable);
    append(own.files, way_to(spec.argv[0], spec.mounts));
    append(own.files, way_to(spec.executable, spec.mounts));
    append(own.files, interpreters(spec.executable, view));
    append(own.files, named_files(spec.argv, view));
    // What the client gave may have been a bare name as well.
    if (policy.launch.command_from_client || policy.launch.command[0].find('/') == std::string::npos) {
      add_searched(spec.argv[0], caller, own);
    }
  } else {
    append(own.files, granted_files(spec.argv, view));
  }
  for (const auto& [name, secret] : policy.launch.secrets) {
    add_secret_paths(secret, caller, own);
  }
}

Status check_write_grants(const policy::Policy& policy, const Caller& caller, const OwnPaths& own) {
  const std::vector<std::string> folders = ways(own.folders);
  const std::vector<std::string> files = ways(own.files);
  std::vector<std::string> granted;
  Objects objects;
  for (const policy::Grant& grant : policy.isolation.write) {
    const Result<std::string> expanded = expand_home(grant.path, caller.home);
    if (!expanded) {
      return fail(Errc::policy_invalid, expanded.error().detail, place_in(policy, grant.position),
                  expanded.error().remedy);
    }
    const std::string path = resolved(*expanded);
    const auto reaches = [&](const std::string& target) { return objects.lies_within(target, path); };
    const auto lies_in = [&](const std::string& folder) { return objects.lies_within(path, folder); };
    if (const auto file = std::ranges::find_if(files, reaches); file != files.end()) {
      return reached(policy, grant, path, *file);
    }
    if (const auto above = std::ranges::find_if(folders, reaches); above != folders.end()) {
      return reached(policy, grant, path, *above);
    }
    if (const auto around = std::ranges::find_if(folders, lies_in); around != folders.end()) {
      return reached(policy, grant, path, *around);
    }
    granted.push_back(path);
  }
  return check_single(granted, own);
}

}  // namespace cordon::app
