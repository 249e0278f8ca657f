// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members that a case-insensitive reader would take for a protocol member (CVE-2026-27896 class of bypass).

#include <optional>
#include <string>

#include "core/json/value.hpp"

namespace cordon::wire {

// Checks the envelope, params, result, error and both _meta of a message; the offending place as "params.Name".
std::optional<std::string> folded_protocol_member(const json::Value& message);

// The members of an envelope, found in one go.
struct Envelope {
  json::Value version = {};
  json::Value id = {};
  json::Value method = {};
  json::Value params = {};
  json::Value result = {};
  json::Value error = {};
};
Envelope envelope_of(const json::Value& message);
std::optional<std::string> folded_protocol_member(const json::Value& message, const Envelope& envelope);
// The same of what stands elsewhere for the params of a message: in a question inside of a result, say.
std::optional<std::string> folded_params_member(const json::Value& params);

}  // namespace cordon::wire
