// SPDX-License-Identifier: Apache-2.0
#include "app/known_values.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace cordon::app {
namespace {

// What the policy grants, in the order of the places inside.
std::vector<std::string> grants_inside(const PreparedLaunch& launch, bool folders_only) {
  std::vector<std::string> out;
  for (const sandbox::Mount& mount : launch.spec.mounts) {
    std::error_code error;
    if (mount.source != launch.package_tree && (!folders_only || std::filesystem::is_directory(mount.source, error)) &&
        std::ranges::find(out, mount.target) == out.end()) {
      out.push_back(mount.target);
    }
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> known_values(const policy::Policy& policy, const PreparedLaunch& launch) {
  using Kind = policy::Variable::Kind;
  constexpr std::string_view kHome = "HOME=";
  std::string home;
  for (const std::string& entry : launch.spec.environment) {
    if (entry.starts_with(kHome)) {
      home = entry.substr(kHome.size());
    }
  }
  const std::string& cwd = launch.spec.cwd.empty() ? home : launch.spec.cwd;
  const std::vector<std::string> roots = grants_inside(launch, false);
  auto root = roots.begin();
  std::map<std::string, std::string> out;
  for (const auto& [name, variable] : policy.catalog.variables) {
    if (variable.kind == Kind::cwd && !cwd.empty()) {
      out.emplace(name, cwd);
    } else if (variable.kind == Kind::home && !home.empty()) {
      out.emplace(name, home);
    } else if (variable.kind == Kind::roots && root != roots.end()) {
      out.emplace(name, *root++);
    } else if (variable.kind == Kind::argument && variable.argument < launch.fingerprint.command.size()) {
      out.emplace(name, launch.fingerprint.command[variable.argument]);
    }
  }
  return out;
}

std::vector<std::string> granted_folders(const PreparedLaunch& launch) { return grants_inside(launch, true); }

}  // namespace cordon::app
