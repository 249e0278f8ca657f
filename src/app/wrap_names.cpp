// SPDX-License-Identifier: Apache-2.0
#include "app/wrap_names.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "app/package_command.hpp"
#include "app/paths.hpp"
#include "app/policy_lookup.hpp"
#include "app/session_context.hpp"
#include "base/text.hpp"
#include "clients/known_servers.hpp"

namespace cordon::app {
namespace {

// Anything in its place, also a dangling symlink, and what cannot be looked at.
bool is_taken(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace

std::string policy_name_for(std::string_view server) {
  constexpr std::size_t kMax = 56;  // leaves room for "-2"
  std::string out;
  for (const char c : server) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || ((c == '.' || c == '_' || c == '-') && !out.empty())) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  out.resize(std::min(out.size(), kMax));
  while (!out.empty() && out.back() == '-') {
    out.pop_back();
  }
  return out.empty() ? "server" : out;
}

PolicyMatch match_policy(const Caller& caller, const std::string& name, const std::vector<std::string>& command) {
  const PolicyChoice choice{.name = name};
  const Result<PolicyLocation> location = locate_policy(caller, choice);
  if (!location) {
    // locate_policy tells "there is none" and "it cannot be known" by the same code; only the latter has a place.
    return location.error().where.empty()
               ? PolicyMatch{}
               : PolicyMatch{.fit = PolicyFit::broken, .detail = location.error().to_string()};
  }
  const Result<LoadedPolicy> loaded = read_policy_file(caller, choice);
  if (!loaded) {
    return {.fit = PolicyFit::broken, .path = location->path, .detail = loaded.error().to_string()};
  }
  const policy::Launch& launch = loaded->policy.launch;
  PolicyMatch out;
  out.path = location->path;
  out.environment = launch.pass;
  for (const auto& [variable, value] : launch.set) {
    out.environment.push_back(variable);
  }
  for (const auto& [variable, secret] : launch.secrets) {
    out.environment.push_back(variable);
    out.environment.push_back(secret.from);
  }
  out.fit = launch.command == command || means_launch(command, launch) ? PolicyFit::same : PolicyFit::other;
  out.fetches_once = out.fit == PolicyFit::same && launch.source.has_value();
  if (out.fit == PolicyFit::other) {
    out.detail = launch.command_from_client ? "takes the command of any client" : "is for another command";
  }
  return out;
}

bool name_is_free(const Caller& caller, const std::string& name, const std::vector<std::string>& command) {
  const std::string file = text::cat("/policies/", name, ".yaml");
  if (is_taken(caller.config_folder() + file) || is_taken(caller.system_config + file)) {
    return false;
  }
  return !is_taken(caller.share_folder() + file) || clients::shipped_policy_for(command) == name;
}

}  // namespace cordon::app
