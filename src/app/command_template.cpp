// SPDX-License-Identifier: Apache-2.0
#include "app/command_template.hpp"

#include <string_view>

#include "app/grants.hpp"

namespace cordon::app {

std::vector<std::string> expand_template(const std::vector<std::string>& items, const std::vector<std::string>& command,
                                         const std::string& cwd) {
  constexpr std::string_view kCwd = "{cwd}";
  std::vector<std::string> out;
  for (const std::string& item : items) {
    if (item == "{command}") {
      out.insert(out.end(), command.begin(), command.end());
      continue;
    }
    std::string word = item;
    for (std::size_t at = 0; (at = word.find(kCwd, at)) != std::string::npos; at += cwd.size()) {
      word.replace(at, kCwd.size(), cwd);
    }
    out.push_back(std::move(word));
  }
  return out;
}

Status put_in_template(const policy::Policy& policy, std::vector<std::string>& command, sandbox::LaunchSpec& spec) {
  if (policy.isolation.backend != policy::Backend::command) {
    return {};
  }
  const std::string& cwd = policy.launch.cwd;
  if (cwd.starts_with('~')) {
    return fail(Errc::policy_invalid, "launch.cwd names the caller's home, which a template's sandbox does not know",
                place_in(policy, policy.launch.position), "write the path that is meant inside");
  }
  command = expand_template(policy.isolation.command_template, command, cwd.empty() ? "/" : cwd);
  spec.from_template = true;
  return {};
}

}  // namespace cordon::app
