// SPDX-License-Identifier: Apache-2.0
#pragma once
// Folders of our own state.

#include <string>

#include "base/error.hpp"

namespace cordon::app {

// Makes `path` and missing parents, each with mode 0700. The folder itself must be a real folder, belong to this user
// and be closed to others, else file_untrusted; file_unreadable when it cannot be made.
Status make_private_folder(const std::string& path);

}  // namespace cordon::app
