// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines that we write ourselves, each with its LF, and marked rewrites of a peer's message.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/json/value.hpp"
#include "core/wire/id.hpp"

namespace cordon::wire {

// {"jsonrpc":"2.0","id":…,"error":{"code":…,"message":"<type>: <detail>","data":{"type":"<type>"}}}
std::string error_line(const Id& id, Errc code, std::string_view detail);
// The same with the code and the message given.
std::string error_line(const Id& id, int code, std::string_view message, Errc type);
// `result_json` is one JSON object.
std::string result_line(const Id& id, std::string_view result_json);
std::string request_line(const Id& id, std::string_view method, std::string_view params_json);
std::string notification_line(std::string_view method, std::string_view params_json);

enum class Era : std::uint8_t { handshake, stateless };

// The answer to a refused call: isError and one text block; in the stateless era with resultType "complete".
// `meta_json` is an object for _meta.
std::string refusal_result(std::string_view text, std::string_view meta_json, Era era);

// True when some `_meta` object inside `value` has a member under our own prefix. Tool arguments and structured content
// are data and not looked into.
bool has_own_meta(const json::Value& value);
// `value` again, without those members.
std::string without_own_meta(const json::Value& value);

// `object` again, with `_meta` extended by one member `key` (below our prefix) of JSON `value`.
std::string with_meta(const json::Value& object, std::string_view key, std::string_view value);

// `object` again; `edit` is asked for every member and gives a replacement as JSON, an empty string to leave the member
// out, or nothing to keep it as it stands.
using MemberEdit = std::function<std::optional<std::string>(std::string_view key, const json::Value& value)>;
std::string edited(const json::Value& object, const MemberEdit& edit);

}  // namespace cordon::wire
