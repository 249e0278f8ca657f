// SPDX-License-Identifier: Apache-2.0
#pragma once
// run: processes, descriptors, files and time: everything that the pure core may not touch. libuv in this folder only.
// Must not: parse formats or decide anything about messages. Start reading at proxy.hpp.
// This file: the few environment variables that matter, as a value. Clients pass hardly more than HOME and PATH.

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace cordon::run {

struct Environment {
  std::string home = {};
  std::string path = {};
  std::string xdg_config_home = {};
  std::string xdg_state_home = {};

  // Takes HOME, PATH, XDG_CONFIG_HOME and XDG_STATE_HOME out of NAME=value strings, as main gets them.
  static Environment from(const char* const* environment);
};

// …/mcp-cordon below XDG_CONFIG_HOME or ~/.config, and below XDG_STATE_HOME or ~/.local/state. XDG variables that are
// empty or no absolute path count as absent, as their specification says. An error when HOME is needed and unusable.
Result<std::string> config_dir(const Environment& environment);
Result<std::string> state_dir(const Environment& environment);

// "~" and "~/x" with HOME in place of the tilde, other paths as they are.
Result<std::string> expand_home(const Environment& environment, std::string_view path);

}  // namespace cordon::run
