// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line. parse.cpp is the one file that includes CLI11.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace cordon::cli {

struct Parsed {
  std::unique_ptr<Command> command = {};  // null when the program is to end with `exit_status` at once
  bool has_separator = false;
  std::vector<std::string> after = {};
  int exit_status = 0;
  std::string out = {};  // to stdout: help or version
  std::string err = {};  // to stderr: what is wrong
};

// `arguments` without the program's name.
Parsed parse(std::span<const std::string> arguments, std::string_view version);

}  // namespace cordon::cli
