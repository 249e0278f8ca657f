// SPDX-License-Identifier: Apache-2.0
#pragma once
// The JSON Schemas (draft 2020-12) of our formats, from the files in formats/schemas.

#include <span>
#include <string_view>

namespace cordon::formats {

struct Schema {
  std::string_view format = {};  // "policy", "snapshot", …
  std::string_view text = {};
};

std::span<const Schema> schemas();

}  // namespace cordon::formats
