// SPDX-License-Identifier: Apache-2.0
#include "app/container_launch.hpp"

#include <algorithm>

#include "app/expand.hpp"
#include "app/grants.hpp"
#include "app/image_command.hpp"
#include "app/paths.hpp"
#include "base/text.hpp"
#include "run/files.hpp"
#include "sandbox/container_command.hpp"

namespace cordon::app {
namespace {

using sandbox::ContainerCommand;
using sandbox::ContainerMount;
using sandbox::ContainerVariable;

class Comparison {
 public:
  Comparison(const policy::Policy& policy, const Caller& caller, const sandbox::LaunchSpec& spec)
      : policy_(policy), caller_(caller), spec_(spec) {}

  Status compare(const ContainerCommand& command) const {
    for (const ContainerMount& mount : command.mounts) {
      if (Status contained = mounted(mount); !contained) {
        return contained;
      }
    }
    for (const ContainerVariable& variable : command.variables) {
      if (Status contained = listed(variable); !contained) {
        return contained;
      }
    }
    if (!command.network.empty() && command.network != "none") {
      return conflict(text::cat("--network ", text::printable(command.network, 80)), "isolation.network decides that",
                      policy_.isolation.position, "write --network none, or leave it out");
    }
    if (!command.user.empty() && command.user != policy_.isolation.user.value_or("")) {
      return conflict(text::cat("--user ", text::printable(command.user, 80)),
                      policy_.isolation.user ? text::cat("isolation.user is ", *policy_.isolation.user)
                                             : std::string("isolation.user is not set"),
                      policy_.isolation.position, "leave --user out; the server never runs as root");
    }
    if (!policy_.launch.cwd.empty() && !command.working_directory.empty() && command.working_directory != spec_.cwd) {
      return conflict(text::cat("--workdir ", text::printable(command.working_directory, 200)),
                      text::cat("launch.cwd is ", text::printable(policy_.launch.cwd, 200)), policy_.launch.position,
                      "name it in one place");
    }
    if (Status memory =
            limited("--memory", command.memory_bytes, "isolation.limits.memory", policy_.isolation.limits.memory_bytes);
        !memory) {
      return memory;
    }
    return limited("--pids-limit", command.processes, "isolation.limits.processes", policy_.isolation.limits.processes);
  }

 private:
  // Both places: the command's and the policy's.
  Status conflict(const std::string& asked, const std::string& says, const policy::Position& where,
                  std::string remedy) const {
    return fail(Errc::isolation_conflict,
                text::cat("the command asks for '", asked, "', but ", says, " (", place_in(policy_, where), ")"),
                place_in(policy_, policy_.launch.position), std::move(remedy));
  }

  // The grant that shows this place, as written.
  const policy::Grant* grant_of(const std::string& source) const {
    for (const auto* list : {&policy_.isolation.write, &policy_.isolation.read}) {
      for (const policy::Grant& grant : *list) {
        const Result<std::string> path = expand_home(grant.path, caller_.home);
        if (path && is_within(source, *path)) {
          return &grant;
        }
      }
    }
    return nullptr;
  }

  Status mounted(const ContainerMount& asked) const {
    const auto shows = [&](const sandbox::Mount& mount) {
      return is_within(asked.source, mount.source) && (mount.writable || !asked.writable) &&
             rebased(asked.source, mount.source, mount.target) == asked.target;
    };
    if (std::ranges::any_of(spec_.mounts, shows)) {
      return {};
    }
    const std::string flag = text::printable(asked.flag, 400);
    const policy::Grant* grant = grant_of(asked.source);
    if (grant == nullptr) {
      return conflict(flag, "isolation.filesystem does not grant it", policy_.isolation.position,
                      text::cat("add to isolation.filesystem.", asked.writable ? "write" : "read", ": {path: ",
                                text::printable(asked.source, 200), ", at: ", text::printable(asked.target, 200), "}"));
    }
    return conflict(flag, text::cat("isolation.filesystem grants ", text::printable(grant->path, 200), " otherwise"),
                    grant->position,
                    asked.writable ? "add :ro to the flag, or grant it in isolation.filesystem.write at the same place"
                                   : "grant it at the same place inside");
  }

  // Values are not shown: they may be secrets.
  Status listed(const ContainerVariable& variable) const {
    const policy::Launch& launch = policy_.launch;
    const std::string asked = text::cat("-e ", text::printable(variable.name, 80));
    const auto set = launch.set.find(variable.name);
    const bool elsewhere =
        std::ranges::find(launch.pass, variable.name) != launch.pass.end() || launch.secrets.contains(variable.name);
    if (set == launch.set.end() && !elsewhere) {
      return conflict(asked, "launch.environment does not list it", launch.position,
                      "add it to launch.environment: set, pass or secrets");
    }
    if (variable.value && (elsewhere || set->second != *variable.value)) {
      return conflict(text::cat(asked, "=…"), "launch.environment has another value for it", launch.position,
                      text::cat("write -e ", text::printable(variable.name, 80), " without a value"));
    }
    return {};
  }

  Status limited(std::string_view flag, const std::optional<std::uint64_t>& asked, std::string_view key,
                 const std::optional<std::uint64_t>& limit) const {
    if (!asked || (limit && *limit <= *asked)) {
      return {};
    }
    return conflict(text::cat(flag, ' ', *asked),
                    limit ? text::cat(key, " is ", *limit) : text::cat(key, " sets no limit"),
                    policy_.isolation.position, text::cat("write the limit as ", key, ", and leave ", flag, " out"));
  }

  const policy::Policy& policy_;
  const Caller& caller_;
  const sandbox::LaunchSpec& spec_;
};

}  // namespace

bool starts_image(const policy::Policy& policy) {
  return policy.isolation.backend == policy::Backend::podman || policy.isolation.backend == policy::Backend::docker;
}

Status refuse_container_command(const policy::Policy& policy, const std::vector<std::string>& command) {
  if (policy.isolation.backend == policy::Backend::none || !sandbox::is_container_command(command)) {
    return {};
  }
  return fail(Errc::policy_invalid,
              "the command starts a container, and inside a sandbox its client reaches no container engine",
              place_in(policy, policy.launch.position),
              "set isolation.backend to podman or docker: the command is then translated");
}

Result<std::string> scratch_folder(const Caller& caller) {
  return run::ensure_private_folder(caller.state_folder() + "/launch");
}

Status translate_container(const policy::Policy& policy, const Caller& caller, const std::vector<std::string>& command,
                           sandbox::LaunchSpec& spec) {
  Result<ContainerCommand> parsed = sandbox::parse_container_command(command);
  if (!parsed) {
    Error error = parsed.error();
    error.where = text::cat(place_in(policy, policy.launch.position), ": ", error.where);
    return std::unexpected(std::move(error));
  }
  if (Status contained = Comparison(policy, caller, spec).compare(*parsed); !contained) {
    return contained;
  }
  spec.image = {.reference = parsed->image, .entrypoint = parsed->entrypoint, .platform = parsed->platform};
  spec.argv = parsed->arguments;
  if (spec.cwd.empty()) {
    spec.cwd = parsed->working_directory;
  }
  return {};
}

Status check_client_options(const policy::Policy& policy, const Caller& caller,
                            const std::vector<std::string>& client_command, const sandbox::LaunchSpec& spec) {
  if (!is_image_command(client_command)) {
    return {};
  }
  const Result<ImageCommand> asked = image_command(client_command);
  return asked ? Comparison(policy, caller, spec).compare(asked->asked) : std::unexpected(asked.error());
}

}  // namespace cordon::app
