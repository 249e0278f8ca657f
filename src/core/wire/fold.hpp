// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members that a case-insensitive reader would take for a protocol member (CVE-2026-27896 class of bypass).

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace cordon::wire {

// The first key of `object` that equals one of `names` only after Unicode case folding, else nothing.
std::optional<std::string> folded_member(const json::Value& object, std::span<const std::string_view> names);

// Checks the envelope, params, result, error and both _meta of a message; the offending place as "params.Name".
std::optional<std::string> folded_protocol_member(const json::Value& message);

}  // namespace cordon::wire
