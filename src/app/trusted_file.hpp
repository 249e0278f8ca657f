// SPDX-License-Identifier: Apache-2.0
#pragma once
// The few ways in which app touches files that steer us, over run/files.

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace cordon::app {

// The whole file, opened once, without following a final symlink. It and its folders must belong to root or this user
// and be closed to writers besides them: file_untrusted; file_unreadable.
Result<std::string> read_trusted(const std::string& path, std::size_t max_bytes);

// Replaces the file atomically, mode 0600 when it is new; missing folders are made with mode 0700.
Status write_trusted(const std::string& path, const std::string& content);

// A file that steers nothing: read for a report (diff of two files, check), written where the person said.
Result<std::string> read_plain(const std::string& path, std::size_t max_bytes);
Status write_plain(const std::string& path, const std::string& content);

}  // namespace cordon::app
