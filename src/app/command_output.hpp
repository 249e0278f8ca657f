// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a short helper program and takes what it prints; for secrets that come from a command and
// for signatures.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace cordon::app {

// PATH of programs that secrets come from.
inline constexpr std::string_view kSecretPath = "/usr/local/bin:/usr/bin:/bin";

struct CommandRequest {
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};  // NAME=value, complete
  std::int64_t timeout_ms = 10'000;
  std::size_t max_bytes = 65'536;
  std::string program = {};  // the file to start, absolute; empty: argv[0]
  std::string input = {};    // the file that stdin reads from; empty: /dev/null
};

// Standard output of the program. stderr is /dev/null and no other descriptor is handed down. On a time-out
// its whole process group is killed. launch_failed, timed_out; the text of an error holds no output.
Result<std::string> command_output(const CommandRequest& request);

// The absolute path of a program: an absolute name as it is, a bare name searched in the system directories, never in
// PATH. Empty when there is none.
std::string system_program(const std::string& name);

}  // namespace cordon::app
