// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turning what a policy writes into what is there: "~/", and argv[0] through PATH.

#include <string>
#include <string_view>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

// "~" and "~/…" become paths below `home`; other paths must be absolute. The result is normalised. policy_invalid.
Result<std::string> expand_home(std::string_view path, const std::string& home);

struct Program {
  std::string path = {};  // as found: absolute, perhaps a symlink
  std::string real = {};  // the file that this leads to
};

// argv[0] of a server: an absolute path, or a bare name that is looked for once in the absolute entries of the caller's
// PATH. It must be an executable regular file. launch_failed; policy_invalid for a relative path, since the directory
// that we happen to run in must not decide what is started.
Result<Program> find_program(const std::string& argv0, const Caller& caller);

}  // namespace cordon::app
