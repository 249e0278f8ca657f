// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of the user's uv and pip, gathered from where these look for them.

#include <string>

#include "app/caller.hpp"
#include "app/pypi_client.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct FoundPypiSettings {
  PypiSettings settings = {};
  std::string certificates = {};  // a file; empty: those of pip and the system
};

// uv's indexes when it has any, else pip's; the rest from both.
Result<FoundPypiSettings> pypi_settings(const Caller& caller);

}  // namespace cordon::app
