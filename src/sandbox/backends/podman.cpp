// SPDX-License-Identifier: Apache-2.0
// podman: a container of an image by digest; without a daemon, and as an ordinary user where the machine lets it.
#include "sandbox/backend.hpp"
#include "sandbox/container_plan.hpp"

namespace cordon::sandbox {
namespace {

constexpr std::string_view kName = "podman";

Result<Plan> make_plan(const LaunchSpec& spec, const HostFacts& facts) {
  return container_plan(spec, facts, {.name = kName, .is_podman = true, .facts = facts.podman});
}

}  // namespace

extern constinit const Backend kBackend_podman;
constinit const Backend kBackend_podman = {
    .name = kName, .choice = BackendChoice::podman, .automatic = false, .images = true, .plan = make_plan};

}  // namespace cordon::sandbox
