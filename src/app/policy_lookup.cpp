// SPDX-License-Identifier: Apache-2.0
#include "app/policy_lookup.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "app/paths.hpp"
#include "app/way.hpp"
#include "base/text.hpp"

namespace cordon::app {
namespace {

constexpr std::size_t kMaxName = 64;

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// lstat: a dangling symlink is an entry too, and is refused later instead of being passed over. What cannot be looked
// at may be there: taken for absent, it would uncover what lies behind it.
Result<bool> has_entry(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) == 0) {
    return true;
  }
  if (errno == ENOENT || errno == ENOTDIR) {
    return false;
  }
  return fail(Errc::file_unreadable, errno_text("lstat", errno), text::printable(path),
              "give this user access to its folder, or give a file with --policy FILE");
}

std::string without_extension(std::string name) {
  for (const std::string_view extension : {".yaml", ".yml"}) {
    if (name.ends_with(extension) && name.size() > extension.size()) {
      name.resize(name.size() - extension.size());
      break;
    }
  }
  return name;
}

std::array<std::string, 3> policy_folders(const Caller& caller) {
  return {caller.config_folder() + "/policies", caller.system_config + "/policies",
          caller.share_folder() + "/policies"};
}

// The names of all policies that could have been meant, for "did you mean".
std::vector<std::string> known_policies(const Caller& caller) {
  std::vector<std::string> out;
  for (const std::string& folder : policy_folders(caller)) {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name.ends_with(".yaml") && valid_name(without_extension(name))) {
        out.push_back(without_extension(name));
      }
    }
  }
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

Result<PolicyLocation> locate_file(const std::string& file) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(file, error);
  if (error) {
    return fail(Errc::file_unreadable, "the current directory cannot be read", file, "give an absolute path");
  }
  const std::string path = without_dots(absolute.string());
  return PolicyLocation{path, without_extension(file_name_of(path)), false, absolute.string()};
}

std::string beside(const PolicyLocation& policy, std::string_view as_written) {
  if (as_written.starts_with('/')) {
    return without_dots(as_written);
  }
  const std::string name = as_written.empty() ? policy.name + ".catalog.json" : std::string(as_written);
  return without_dots(text::cat(parent_of(policy.path), '/', name));
}

bool user_places_files_beside(const Caller& caller, const PolicyLocation& policy) {
  if (!policy.found_by_name) {
    return true;
  }
  const std::string folder = parent_of(policy.path);
  // Root can write everywhere; what the installation brought is still not a place for reviews.
  return !is_within(folder, caller.share_folder()) && ::access(folder.c_str(), W_OK) == 0;
}

}  // namespace

bool valid_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || !is_alphanumeric(name.front())) {
    return false;
  }
  return std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Result<PolicyLocation> locate_policy(const Caller& caller, const PolicyChoice& choice) {
  if (!choice.file.empty()) {
    return locate_file(choice.file);
  }
  if (const std::size_t at = choice.name.find('@'); at != std::string::npos && valid_name(choice.name.substr(0, at))) {
    return fail(Errc::policy_invalid,
                text::cat("'", text::printable(choice.name, 100), "' is no name of a policy, which has no version"), {},
                text::cat("to move it to another one: mcp-cordon update ", choice.name.substr(0, at), " VERSION"));
  }
  if (!valid_name(choice.name)) {
    return fail(Errc::policy_invalid,
                text::cat("'", text::printable(choice.name, 100), "' is no name of a policy; names match ",
                          "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"),
                {}, "give a file with --policy FILE");
  }
  const std::array<std::string, 3> folders = policy_folders(caller);
  for (const std::string& folder : folders) {
    const std::string path = text::cat(folder, '/', choice.name, ".yaml");
    const Result<bool> there = has_entry(path);
    if (!there) {
      return std::unexpected(there.error());
    }
    if (*there) {
      return PolicyLocation{path, choice.name, true, path};
    }
  }
  const std::vector<std::string> known = known_policies(caller);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::optional<std::string_view> meant = text::nearest(choice.name, candidates);
  return fail(Errc::file_unreadable,
              text::cat("there is no policy named '", choice.name, "' in ", text::join(folders, ", "),
                        meant ? text::cat(" (did you mean '", *meant, "'?)") : std::string()),
              {},
              text::cat("make one: mcp-cordon init ", choice.name, " -- COMMAND; or give a file with --policy FILE"));
}

Result<PolicyLocation> locate_as_found(const Caller& caller, const std::string& file) {
  Result<PolicyLocation> location = locate_file(file);
  if (location && valid_name(location->name)) {
    Result<PolicyLocation> named = locate_policy(caller, {.name = location->name, .file = {}, .ceilings = {}});
    if (named && named->path == location->path) {
      return named;
    }
  }
  return location;
}

SnapshotLocation snapshot_to_write(const Caller& caller, const PolicyLocation& policy, std::string_view as_written) {
  if (as_written.starts_with('/') || user_places_files_beside(caller, policy)) {
    return {beside(policy, as_written), false};
  }
  return {text::cat(caller.config_folder(), "/snapshots/", policy.name, ".catalog.json"), true};
}

Result<SnapshotLocation> snapshot_to_read(const Caller& caller, const PolicyLocation& policy,
                                          std::string_view as_written) {
  SnapshotLocation written = snapshot_to_write(caller, policy, as_written);
  if (!written.bound) {
    return written;
  }
  const Result<bool> reviewed = has_entry(written.path);
  if (!reviewed) {
    return std::unexpected(reviewed.error());
  }
  if (*reviewed) {
    return written;
  }
  std::string shipped = beside(policy, as_written);
  const Result<bool> there = has_entry(shipped);
  if (!there) {
    return std::unexpected(there.error());
  }
  return *there ? SnapshotLocation{std::move(shipped), false} : written;
}

std::string candidate_path(const Caller& caller, std::string_view name) {
  return text::cat(caller.state_folder(), "/candidates/", name, ".catalog.json");
}

std::string home_path(const Caller& caller, std::string_view server) {
  return text::cat(caller.state_folder(), "/homes/", server);
}

std::string audit_folder(const Caller& caller) { return caller.state_folder() + "/audit"; }

}  // namespace cordon::app
