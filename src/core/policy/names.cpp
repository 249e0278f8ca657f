// SPDX-License-Identifier: Apache-2.0
// The spelling of effects and actions, as it stands in policies, snapshots and audit records.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/policy/policy.hpp"

namespace cordon::policy {
namespace {

constexpr std::array<std::string_view, 6> kEffects = {"read", "write", "destructive", "execute", "send", "unknown"};
constexpr std::array<std::string_view, 5> kActions = {"allow", "flag", "confirm", "block", "hide"};

static_assert(kEffects.size() == static_cast<std::size_t>(Effect::unknown) + 1);
static_assert(kActions.size() == static_cast<std::size_t>(Action::hide) + 1);

template <typename T, std::size_t N>
std::optional<T> find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) {
      return static_cast<T>(i);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Effect effect) { return kEffects.at(static_cast<std::size_t>(effect)); }

std::string_view name(Action action) { return kActions.at(static_cast<std::size_t>(action)); }

std::optional<Effect> effect_from_name(std::string_view name) { return find<Effect>(kEffects, name); }

std::optional<Action> action_from_name(std::string_view name) { return find<Action>(kActions, name); }

}  // namespace cordon::policy
