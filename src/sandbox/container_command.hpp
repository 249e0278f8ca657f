// SPDX-License-Identifier: Apache-2.0
#pragma once
// `docker run …` and `podman run …` as written in a policy or a client's configuration, taken apart: never executed,
// only translated. What a flag asks for has to be in the policy, too (app compares); flags that would take a wall away
// are refused here. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::sandbox {

struct ContainerMount {
  std::string source = {};  // outside
  std::string target = {};  // inside
  bool writable = true;
  std::string flag = {};  // as written
};

struct ContainerVariable {
  std::string name = {};
  std::optional<std::string> value = {};  // none: the caller's
};

struct ContainerCommand {
  std::string image = {};   // "registry/name[:tag]@sha256:…"
  std::string digest = {};  // "sha256:…"
  std::vector<std::string> arguments = {};
  std::optional<std::string> entrypoint = {};
  std::string working_directory = {};
  std::string user = {};
  std::string network = {};   // as written; empty: not said
  std::string platform = {};  // "linux/amd64"
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> processes = {};
  std::vector<ContainerMount> mounts = {};
  std::vector<ContainerVariable> variables = {};
};

// True when the program is docker or podman by its name, whatever follows.
bool is_container_command(std::span<const std::string> words);

// policy_invalid, naming the word, for everything that is not such a command, for flags that weaken isolation, and for
// those that are not known; where: "launch.command, word 4".
// `named`: an image that has no digest is fine, when another place names it.
enum class ImageNamed : std::uint8_t { by_digest, anyhow };
Result<ContainerCommand> parse_container_command(std::span<const std::string> words,
                                                 ImageNamed named = ImageNamed::by_digest);

// The digest of "name@sha256:…"; nothing when it is not that.
std::optional<std::string> image_digest(std::string_view reference);

}  // namespace cordon::sandbox
