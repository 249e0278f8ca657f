// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `requestState` that we give a client of the stateless era: authenticated, and around the server's own where that
// asks something during a confirmed call. The client can neither make nor alter one.

#include <optional>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "base/time.hpp"
#include "core/gate/confirmation.hpp"

namespace cordon::gate {

// What a server may give as its own state: more is not carried.
inline constexpr std::size_t kMaxInnerState = 1'000'000;

struct SealedState {
  Confirmations::Stage stage = Confirmations::Stage::asked;
  std::string server = {};
  std::string session = {};
  std::string tool = {};
  std::string call = {};  // ConfirmSubject::call
  std::string nonce = {};
  Instant expires = {};
  std::optional<std::string> inner = {};  // the server's requestState, as JSON, byte for byte
};

// No characters that JSON would escape.
std::string seal(const MacKey& key, const SealedState& state);
// Does it claim to be one of ours? Nothing else may begin so.
bool looks_sealed(std::string_view request_state);
// Nothing unless it was sealed with this key and stands as it was sealed.
std::optional<SealedState> unseal(const MacKey& key, std::string_view request_state);

}  // namespace cordon::gate
