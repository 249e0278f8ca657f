// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading back JSON that we made ourselves.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "core/json/read.hpp"

namespace cordon::gate {

// Our own canonical text: it was read under the session's limits before, so only a bug makes this fail.
inline json::Document parse_own(std::string_view text) {
  auto document = json::read(std::string(text), {.max_bytes = UINT32_MAX, .max_depth = 100'000});
  CORDON_ASSERT(document.has_value());
  return std::move(*document);
}

}  // namespace cordon::gate
