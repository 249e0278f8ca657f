// SPDX-License-Identifier: Apache-2.0
#pragma once
// A way to enforce isolation: one constant of this type per file in backends/, listed in this folder's meson.build.

#include <span>
#include <string_view>

#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/select.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

struct Backend {
  std::string_view name = {};
  BackendChoice choice = BackendChoice::automatic;
  bool automatic = false;  // may be chosen without being named
  bool images = false;     // starts an image in place of a program of this machine
  // Pure. unsupported_isolation (through to_error) when this host cannot carry it.
  Result<Plan> (*plan)(const LaunchSpec& spec, const HostFacts& facts) = nullptr;
};

// In order of preference.
std::span<const Backend* const> backends();
const Backend* find_backend(BackendChoice choice);

}  // namespace cordon::sandbox
