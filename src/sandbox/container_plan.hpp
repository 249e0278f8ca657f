// SPDX-License-Identifier: Apache-2.0
#pragma once
// What podman and docker have in common: a container of an image that the engine has, with our stage as its pid 1. The
// engine makes namespaces, root and control groups; our stage adds Landlock, the exact syscall filter, limits, an init,
// and the look from inside. Descriptors, environment and arguments of the server reach it through a socket, so that
// neither a command line nor the engine's records hold them.

#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

// Where our things are inside.
inline constexpr std::string_view kContainerStage = "/.mcp-cordon/stage";
inline constexpr std::string_view kContainerSocket = "/.mcp-cordon/socket";
inline constexpr std::string_view kContainedWord = "contained";

// How an engine's flags differ from the other's.
struct Engine {
  std::string_view name = {};
  bool is_podman = false;
  const ContainerFacts& facts;
};

Result<Plan> container_plan(const LaunchSpec& spec, const HostFacts& facts, const Engine& engine);

// What is inside besides the image and the grants.
std::vector<ViewEntry> container_base_view(const LaunchSpec& spec, const HostFacts& facts);

// Values that were not known when the plan was made. The names are those of the plan's spec; in a container the
// variables of the image stay as they are.
void set_environment(Plan& plan, const LaunchSpec& spec);

// The arguments for the client, without its own name.
std::vector<ToolArgument> container_arguments(const Plan& plan, const LaunchSpec& spec, const Engine& engine);

// What such a container gives.
Statements container_statements(const LaunchSpec& spec, const HostFacts& facts, const Engine& engine,
                                std::span<const ViewEntry> view);

}  // namespace cordon::sandbox
