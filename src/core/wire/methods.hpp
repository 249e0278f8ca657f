// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which methods and notifications exist, per revision and direction. What is not in the table does not pass.

#include <cstdint>
#include <optional>
#include <string_view>

namespace cordon::wire {

// Revisions of the protocol, in order. The first four open with a handshake, the last is stateless.
enum class Revision : std::uint8_t { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };

std::string_view name(Revision revision);
std::optional<Revision> revision_from_name(std::string_view name);
inline bool is_stateless(Revision revision) { return revision == Revision::v2026_07_28; }

enum class Direction : std::uint8_t { to_server, to_client };
enum class Form : std::uint8_t { request, notification };

// What a method needs beyond existing. The gate checks it against the reviewed capabilities.
enum class Feature : std::uint8_t {
  base,
  tools,
  logging,
  prompts,
  resources,
  completions,
  tasks,
  roots,
  sampling,
  elicitation,
};

// Nothing when the revision has no such method in that direction and form.
std::optional<Feature> lookup(Revision revision, Direction direction, Form form, std::string_view method);

}  // namespace cordon::wire
