// SPDX-License-Identifier: Apache-2.0
#include "app/known_values.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace cordon::app {

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
  auto root = launch.spec.mounts.begin();
  std::map<std::string, std::string> out;
  for (const auto& [name, variable] : policy.catalog.variables) {
    if (variable.kind == Kind::cwd && !cwd.empty()) {
      out.emplace(name, cwd);
    } else if (variable.kind == Kind::home && !home.empty()) {
      out.emplace(name, home);
    } else if (variable.kind == Kind::roots && root != launch.spec.mounts.end()) {
      out.emplace(name, (root++)->target);
    } else if (variable.kind == Kind::argument && variable.argument < launch.fingerprint.command.size()) {
      out.emplace(name, launch.fingerprint.command[variable.argument]);
    }
  }
  return out;
}

std::vector<std::string> granted_folders(const PreparedLaunch& launch) {
  std::vector<std::string> out;
  for (const sandbox::Mount& mount : launch.spec.mounts) {
    std::error_code error;
    if (std::filesystem::is_directory(mount.source, error) && std::ranges::find(out, mount.target) == out.end()) {
      out.push_back(mount.target);
    }
  }
  return out;
}

}  // namespace cordon::app
