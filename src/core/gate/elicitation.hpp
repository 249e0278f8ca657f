// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server's form or address may not do: speak in our name, ask for a secret, lead anywhere but to a plain host.
// All of it is about what a person would read, so it errs on the side of declining.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "core/json/value.hpp"

namespace cordon::gate {

// Does a text name mcp-cordon, however it is spaced, accented or spelled with letters that look alike?
bool names_us(std::string_view text);
// The same in every string and every member name at or below `value`.
bool names_us(const json::Value& value);

// Characters that make a person read another text than the one that is there: controls, bidirectional, tags.
bool misleads_the_eye(std::string_view text);
bool misleads_the_eye(const json::Value& value);

// Does this form ask for a password, a key, a token, a one-time code, a card? Only what takes text or numbers can: a
// form of check boxes and closed choices cannot.
bool asks_for_secret(std::string_view message, const json::Value& requested_schema);

// The host of an address that a person may be sent to: https, no user, a plain name (A-labels) or one of `hosts`, no
// character that readers differ about. `hosts`: names and *.SUFFIX; empty: every name. The detail says what is wrong.
Result<std::string> host_of_address(std::string_view url, std::span<const std::string> hosts);

}  // namespace cordon::gate
