// SPDX-License-Identifier: Apache-2.0
#pragma once
// entry_points.txt of an installed wheel: which programs it has.

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::formats {

struct EntryPoint {
  std::string module = {};     // "mcp_server_git.cli"
  std::string attribute = {};  // "main", "App.run"
  bool operator==(const EntryPoint&) const = default;
};

// The program `bin` of the package. One that is named like the package is also found by another of its spellings, and
// when it is the only one. launch_failed when there is none; the message names those that there are.
Result<EntryPoint> pypi_program(std::string_view text, std::string_view file, std::string_view package,
                                std::string_view bin);

}  // namespace cordon::formats
