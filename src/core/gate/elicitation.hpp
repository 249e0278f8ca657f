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

// Does any string or member name at or below `value` name mcp-cordon (own_name.hpp)?
bool names_us(const json::Value& value);

// Does a text at or below `value` say what our own forms say (confirm_form.hpp), whoever it says it is of?
bool poses_as_form(const json::Value& value);

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
