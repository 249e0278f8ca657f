// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interface resources (`ui://`): a tool names one, and its content is pinned with the tool.

#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::catalog {

// The `ui://` address that a definition names: `_meta.ui.resourceUri`, or the older `_meta["ui/resourceUri"]`. Nothing
// when there is none, it is no such address, or the two differ.
std::optional<std::string> interface_of(const json::Value& definition);

// "sha256:…" over the canonical text of `contents` in a result of resources/read; nothing when that is no array.
std::optional<std::string> contents_digest(const json::Value& result);

// What a person wants to know of such content without reading all of it, as a canonical JSON object
// (docs/formats/snapshot.md, `interface_facts`): sizes, types, scripts, remote hosts, `_meta`, and cues in its text.
std::string interface_facts(const json::Value& result);

// Digest and facts of one interface as one canonical object, the way a diff compares them. Empty without a digest.
std::string interface_summary(std::string_view digest, std::string_view facts);

}  // namespace cordon::catalog
