// SPDX-License-Identifier: Apache-2.0
// docker: the same container, made by a daemon that is root on this machine.
#include "sandbox/backend.hpp"
#include "sandbox/container_plan.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "docker";

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  return container_plan(spec, facts, {.name = kName, .is_podman = false, .facts = facts.docker});
}

}  // namespace

extern constinit const Backend kBackend_docker;
constinit const Backend kBackend_docker = {
    .name = kName, .choice = BackendChoice::docker, .automatic = false, .images = true, .plan = make_plan};

}  // namespace cordon::sandbox
