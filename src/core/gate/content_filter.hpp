// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a server writes for a model or a person, treated as the policy's `results` say. Nothing is changed without a
// mark; what is not changed keeps its bytes.

#include <cstddef>
#include <set>
#include <string>

#include "core/gate/secret_finder.hpp"
#include "core/json/value.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

struct Treated {
  std::size_t escapes = 0;
  std::size_t hidden = 0;
  std::size_t secrets = 0;
  std::size_t own_name = 0;          // lines that begin with our name
  std::set<std::string> kinds = {};  // of the secrets
  std::string text = {};             // the whole message again; empty when nothing was changed

  bool none() const { return escapes == 0 && hidden == 0 && secrets == 0 && own_name == 0; }
  // For `_meta`, under dev.mcp-cordon/text, and for audit: {"hidden_text":{"action":"flagged","count":2},…}
  std::string marks(const policy::Results& policy) const;
};

// Looks at every string and name of `result`, `error` and `params` of a message but what programs follow rather than
// read: URIs, cursors, media types, tokens, base64 of blobs, images and sound, and `_meta`.
Treated treat_content(const json::Document& message, const policy::Results& policy, const SecretFinder& secrets);

}  // namespace cordon::gate
