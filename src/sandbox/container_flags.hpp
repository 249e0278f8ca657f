// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags of `docker run` and `podman run` that container_command knows, and what becomes of each.

#include <cstdint>
#include <string_view>

namespace cordon::sandbox {

enum class FlagUse : std::uint8_t {
  ours,     // says what this backend does anyway, or changes nothing inside
  refused,  // `why`
  // Values that are looked at.
  environment,
  volume,
  mount,
  tmpfs,
  network,
  working_directory,
  user,
  entrypoint,
  platform,
  memory,
  processes,
  security,
  // Accepted with one of the words in `why` only.
  only,
};

struct ContainerFlag {
  std::string_view name = {};  // without dashes
  char letter = 0;
  bool takes_value = false;
  FlagUse use = FlagUse::refused;
  std::string_view why = {};  // refused: what it would do; only: the words that are fine, with commas
};

// Null when there is no such flag.
const ContainerFlag* find_flag(std::string_view name);
const ContainerFlag* find_flag(char letter);

}  // namespace cordon::sandbox
