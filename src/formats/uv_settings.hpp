// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of uv.toml that says where packages come from.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::formats {

struct UvIndexes {
  std::string main = {};               // index-url, or the [[index]] with `default = true`
  std::vector<std::string> more = {};  // extra-index-url and the other ones
  bool operator==(const UvIndexes&) const = default;
};

// Settings of other kinds are passed over. policy_invalid for values of these that are spelled in a way of TOML that is
// not read here, and for indexes that are for named packages alone (`explicit`). `file` is for messages.
Result<UvIndexes> read_uv_settings(std::string_view text, std::string_view file);

}  // namespace cordon::formats
