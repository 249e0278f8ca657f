// SPDX-License-Identifier: Apache-2.0
#include "app/server_view.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "core/policy/judge_call.hpp"

namespace cordon::app {

Status admit_path_rules(const policy::Policy& policy, const sandbox::Plan& plan) {
  // Those of which the server is a process below ours. A container's is the engine's, and other tools put programs of
  // their own there.
  constexpr std::array<std::string_view, 4> kBelowUs = {"native", "bubblewrap", "landlock", "none"};
  if (!policy::looks_at_paths(policy.tools) || std::ranges::find(kBelowUs, plan.backend) != kBelowUs.end()) {
    return {};
  }
  return fail(Errc::unsupported_isolation,
              text::cat("tools.rules judges paths by `within`, and with backend ", plan.backend,
                        " nobody can look into the server's files"),
              policy.file, "use backend native, bubblewrap or landlock, or judge the argument by matches");
}

Result<std::optional<run::ServerFiles>> look_into(const policy::Policy& policy, const Caller& caller,
                                                  const sandbox::Plan& plan, pid_t server, pid_t spare) {
  if (!policy::looks_at_paths(policy.tools)) {
    return std::nullopt;
  }
  run::ServerFiles::Config config;
  if (plan.own_namespaces) {
    std::vector<run::FileKey> own;
    for (const std::string& program : {caller.stage_path(), plan.tool}) {
      if (const auto key = program.empty() ? std::nullopt : run::key_of(program)) {
        own.push_back(*key);
      }
    }
    Result<UniqueFd> root = run::open_server_root(server, own);
    if (!root) {
      return std::unexpected(root.error());
    }
    config.root = std::move(*root);
    if (spare > 0) {
      config.find_again = [spare, own] { return run::open_server_root(spare, own); };
    }
  } else {
    config.root = UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  if (plan.switch_user) {
    config.become = sandbox::Identity{plan.uid, plan.gid};
  }
  Result<run::ServerFiles> files = run::ServerFiles::start(std::move(config));
  if (!files) {
    return std::unexpected(files.error());
  }
  return std::optional<run::ServerFiles>(std::move(*files));
}

policy::ServerView server_view(const sandbox::Plan& plan, policy::PathJudge* files) {
  policy::ServerView view{.cwd = plan.working_directory, .files = files};
  for (const std::string& variable : plan.environment) {
    if (variable.starts_with("HOME=")) {
      view.home = variable.substr(5);
    }
  }
  return view;
}

}  // namespace cordon::app
