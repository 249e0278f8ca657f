// SPDX-License-Identifier: Apache-2.0
#pragma once
// The short way for bodies of the usual kind: one flat object of plain strings, integers and literals, without escapes.
// A record stands on the path of every call, and parsing it took longer than writing it. Private to this folder.

#include <optional>
#include <string_view>

#include "audit/record.hpp"
#include "base/mask.hpp"

namespace cordon::audit {

// AdmittedBody, as parts of the body itself.
struct FlatBody {
  std::string_view members = {};
  std::string_view event = {};
  bool from_server = false;
};

// Nothing when the body is of another kind, or has to be changed or refused: then it is parsed.
std::optional<FlatBody> admit_flat_body(std::string_view body, const Masker& masker);

// True for a member that the log itself adds.
bool is_reserved_member(std::string_view key);

}  // namespace cordon::audit
