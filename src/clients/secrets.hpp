// SPDX-License-Identifier: Apache-2.0
#pragma once
// Secrets that a config holds in clear: where they stand, never what they are.

#include <string>
#include <string_view>
#include <vector>

#include "clients/entry.hpp"

namespace cordon::clients {

// API_TOKEN, githubPat, --client-secret; not MAX_TOKENS, KEYBOARD or TOKEN_FILE.
bool names_secret(std::string_view name);

// The form of a well-known kind of token, or a URL with a password.
bool looks_secret(std::string_view value);

struct Secret {
  std::string where = {};  // "environment variable API_TOKEN", "argument 3", "header Authorization", "address"
  std::string value = {};  // for masking; never to be shown
};

// Values that are placeholders are none, nor are empty ones.
std::vector<Secret> secrets_in(const Entry& entry);

}  // namespace cordon::clients
