// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Python that installs a package and starts it.

#include <string>

#include "app/caller.hpp"
#include "app/expand.hpp"
#include "base/error.hpp"

namespace cordon::app {

// The python3 that a shell would start, behind pyenv and the like and out of any environment (venv), or what uv has
// installed. With a version ("3.11") the one of that version. Its path is that of the file itself. launch_failed.
Result<Program> find_python(const Caller& caller, const std::string& version);

}  // namespace cordon::app
