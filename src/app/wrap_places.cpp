// SPDX-License-Identifier: Apache-2.0
#include "app/wrap_places.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/container_launch.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/secrets.hpp"
#include "clients/starter_policy.hpp"
#include "formats/policy_yaml.hpp"

namespace cordon::app {
namespace {

bool shows(const policy::Isolation& isolation, const std::string& path) {
  const auto reaches = [&](const policy::Grant& grant) {
    return is_within(path, grant.at.empty() ? grant.path : grant.at);
  };
  return std::ranges::any_of(isolation.read, reaches) || std::ranges::any_of(isolation.write, reaches);
}

}  // namespace

std::vector<std::string> places_not_shown(const clients::Entry& entry, const NewPolicy& policy) {
  std::vector<std::string> out;
  const Result<policy::Policy> made = formats::read_policy(policy.text, policy.path);
  if (!made || starts_image(*made)) {
    return out;
  }
  for (const clients::Variable& variable : entry.environment) {
    if (!variable.value.starts_with('/') || clients::has_placeholder(variable.value) ||
        !clients::may_pass(variable.name) || clients::names_secret(variable.name) ||
        made->launch.set.contains(variable.name)) {
      continue;
    }
    std::error_code error;
    const std::string path = normalised(variable.value);
    const std::string folder = std::filesystem::is_directory(path, error) ? path : parent_of(path);
    if (folder != "/" && std::filesystem::is_directory(folder, error) && !shows(made->isolation, path)) {
      out.push_back(text::cat(variable.name, " names ", text::printable(path, 1000),
                              ", which the policy does not show to the server: if it needs that, grant ",
                              text::printable(folder, 1000), " in isolation.filesystem, for read or write"));
    }
  }
  return out;
}

}  // namespace cordon::app
