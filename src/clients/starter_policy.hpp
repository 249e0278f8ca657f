// SPDX-License-Identifier: Apache-2.0
#pragma once
// The policy that a server begins with: as little as its command needs, with comments that say what to do next.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "clients/package_spec.hpp"

namespace cordon::clients {

// An argument that names something of this machine.
struct NamedPath {
  std::string written = {};    // as the command has it: where the server looks for it
  std::string path = {};       // what it is, without symlinks
  std::string sensitive = {};  // why it is not granted; empty: it is
  bool writable = false;
};

struct Starter {
  std::string server = {};                // also the policy's name
  std::vector<std::string> command = {};  // as the client starts it
  std::optional<PackageSpec> package = {};
  std::string source_kind = "npm";               // the key of launch.source: "npm", "pypi", "oci"
  std::string source = {};                       // launch.source that stands for `command`; empty: none does
  std::string source_bin = {};                   // launch.source.bin; empty: none
  std::vector<std::string> source_command = {};  // launch.command beside it
  std::vector<std::string> environment = {};     // names that the client's config sets
  std::vector<std::pair<std::string, std::string>> set = {};  // that the command gives a value
  std::string cwd = {};
  std::uint64_t memory_bytes = 0;  // 0: no limit
  std::uint64_t processes = 0;
  std::string environment_file = {};  // that the client reads more of them from
  std::vector<NamedPath> paths = {};
};

// The presets of isolation.filesystem.runtime for a command: "node", "python", "java", "browser" or "system".
std::string_view runtime_of(const std::vector<std::string>& command, const std::optional<PackageSpec>& package);

// A whole policy file.
std::string starter_policy(const Starter& starter);

// The same from the text of a shipped policy: its rules, with this server's name, command, folders and environment.
// policy_invalid when the text is not laid out as shipped policies are.
Result<std::string> starter_from_shipped(const Starter& starter, std::string_view shipped);

// Names that may stand in launch.environment: neither PATH nor HOME, no odd characters.
bool may_pass(std::string_view name);

}  // namespace cordon::clients
