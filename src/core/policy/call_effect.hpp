// SPDX-License-Identifier: Apache-2.0
#pragma once
// The effect classes of one call: that of its tool, as far as the review does not say that it hangs on an argument.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/json/value.hpp"
#include "core/policy/argument_pointer.hpp"
#include "core/policy/policy.hpp"
#include "core/policy/schema_walk.hpp"

namespace cordon::policy {

struct CallEffects {
  std::vector<Effect> all = {};           // each once, the worst first
  std::vector<std::string> reasons = {};  // for a person, where they are wanted
  bool only(Effect effect) const { return all.size() == 1 && all.front() == effect; }
};

// `base`: the class of the tool. `by_person`: somebody set it, so that it and the conditions may be milder than others;
// else a `read` counts as unknown.
struct EffectQuestion {
  Effect base = Effect::unknown;
  bool by_person = false;
  const std::vector<catalog::EffectCondition>& when;
  const SchemaWalk& schema;
  json::Value arguments = {};
  bool reasons = true;
};
// Each argument whose values have classes gives one: that of its value; the tool's when it is absent or has a value
// that the schema lists and no condition names; all of its classes and unknown for any other value. What is given at
// all has its class as well.
CallEffects call_effects(const EffectQuestion& question);

// The worst class that a call can have, for annotations.
Effect worst_effect(Effect base, const std::vector<catalog::EffectCondition>& when);

// The pointers that the conditions look at; one that cannot be read is left out (the effect is unknown then).
std::vector<ArgumentPointer> effect_pointers(const std::vector<catalog::EffectCondition>& when);

}  // namespace cordon::policy
