// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that steer nothing: read for a report (diff of two files, check). All others go through run/files.

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace cordon::app {

// The whole file, whoever owns it; also a pipe, so that a shell's <(…) works. file_unreadable, also when it is longer.
Result<std::string> read_plain(const std::string& path, std::size_t max_bytes);

}  // namespace cordon::app
