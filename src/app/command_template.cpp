// SPDX-License-Identifier: Apache-2.0
#include "app/command_template.hpp"

#include "app/grants.hpp"
#include "sandbox/command_template.hpp"

namespace cordon::app {

Status put_in_template(const policy::Policy& policy, std::vector<std::string>& command, sandbox::LaunchSpec& spec) {
  if (policy.isolation.backend != policy::Backend::command) {
    return {};
  }
  const std::string& cwd = policy.launch.cwd;
  if (cwd.starts_with('~')) {
    return fail(Errc::policy_invalid, "launch.cwd names the caller's home, which a template's sandbox does not know",
                place_in(policy, policy.launch.position), "write the path that is meant inside");
  }
  // What is in place of the command is the item itself again, for who puts another command in.
  spec.template_items =
      sandbox::expand_template(policy.isolation.command_template, {"{command}"}, cwd.empty() ? "/" : cwd);
  spec.from_template = true;
  command = sandbox::expand_template(spec.template_items, command, "{cwd}");
  return {};
}

}  // namespace cordon::app
