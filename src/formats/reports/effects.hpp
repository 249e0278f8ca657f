// SPDX-License-Identifier: Apache-2.0
#pragma once
// Proposed effect classes, for people and as JSON (docs/effects.md).

#include <string>
#include <vector>

#include "core/catalog/effects.hpp"
#include "formats/reports/report.hpp"

namespace cordon::formats {

struct NamedProposal {
  std::string name = {};
  catalog::EffectProposal proposal = {};
};

std::string effects_text(const std::vector<NamedProposal>& tools, const RenderOptions& options);
std::string effects_json(const std::vector<NamedProposal>& tools);

// One line for a condition: "/mode = delete: destructive". Untrusted, as the reasons are.
std::string condition_line(const catalog::ConditionalEffect& when);

}  // namespace cordon::formats
