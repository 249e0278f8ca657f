// SPDX-License-Identifier: Apache-2.0
#include "clients/known_servers.hpp"

#include <array>

#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/package_spec.hpp"

namespace cordon::clients {
namespace {

struct Known {
  std::string_view package = {};  // npm
  std::string_view policy = {};
};

constexpr auto kKnown = std::to_array<Known>({
    {"@modelcontextprotocol/server-everything", "everything"},
    {"@modelcontextprotocol/server-filesystem", "filesystem"},
    {"@modelcontextprotocol/server-memory", "memory"},
    {"@modelcontextprotocol/server-sequential-thinking", "sequential-thinking"},
});

}  // namespace

std::string_view shipped_policy_for(std::span<const std::string> command) {
  const auto package = detect(command);
  const std::vector<std::string> words = innermost(command);
  for (const Known& known : kKnown) {
    if (package) {
      if (package->kind == PackageKind::npm && package->registry && package->name == known.package) {
        return known.policy;
      }
      continue;
    }
    // node …/node_modules/PACKAGE/…: the script is the word behind the program.
    const std::string folder = text::cat("/node_modules/", known.package, '/');
    if (words.size() > 1 && program_name(words.front()) == "node" && words[1].find(folder) != std::string::npos) {
      return known.policy;
    }
  }
  return {};
}

}  // namespace cordon::clients
