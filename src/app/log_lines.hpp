// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading an audit log line by line.

#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::app {

// Calls `take` for each line of the file, without its end; for a last line without one too. file_unreadable, which
// names `path`.
Status each_log_line(int fd, const std::string& path, const std::function<void(std::string_view)>& take);

}  // namespace cordon::app
