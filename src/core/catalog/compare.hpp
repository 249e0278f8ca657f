// SPDX-License-Identifier: Apache-2.0
#pragma once
// How two definitions of one tool relate, and the digests of product §7.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/catalog/catalog.hpp"

namespace cordon::catalog {

enum class Relation : std::uint8_t {
  equal,     // same comparison form: order of members, of `required` and of `enum` aside
  cosmetic,  // equal after the closed list of product §4 ($schema, required [], additionalProperties true, execution
             // and annotations at their protocol defaults)
  changed,
};

// `definition` is canonical JSON. The comparison form sorts, by the bytes of their canonical texts, the elements of
// `enum` and of `required` (when all are strings) where these are keywords of a schema: inside `inputSchema` and
// `outputSchema`, not in data such as `default` or `const`. Text that is no JSON object is its own form.
// docs/formats/snapshot.md has the rules in full.
std::string comparison_form(std::string_view definition);
// comparison_form with the closed cosmetic list removed.
std::string cosmetic_form(std::string_view definition);

// "sha256:…" over the comparison form.
std::string tool_digest(std::string_view definition);
// "sha256:…" over everything that a snapshot pins (tools, instructions, server_info, capabilities, versions, effects).
// Takes each tool's `digest` member as it stands.
std::string snapshot_digest(const Snapshot& snapshot);

// As canonical JSON, the way they stand in the snapshot file.
std::string when_json(const std::vector<EffectCondition>& when);
std::string variables_json(const std::vector<VariablePlace>& places);

// Puts the tools in order and sets every digest, as a snapshot that is written or served must have them.
void seal(Snapshot& snapshot);

Relation relate(std::string_view pinned_definition, std::string_view live_definition);

}  // namespace cordon::catalog
