// SPDX-License-Identifier: Apache-2.0
#pragma once
// init: a first policy for a command, as little as it needs.

#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct InitRequest {
  std::string name = {};
  std::vector<std::string> command = {};
  // What a client's config says beside the command.
  std::vector<std::string> environment = {};  // names
  std::string environment_file = {};
  std::string cwd = {};
};

struct NewPolicy {
  std::string name = {};
  std::string path = {};
  std::string text = {};
  std::string shipped = {};                // name of the shipped policy that it comes from; empty: none
  std::vector<std::string> warnings = {};  // printable
};

// Nothing is written. policy_invalid for an impossible name or a command that no policy can hold; the text passes
// `check`.
Result<NewPolicy> prepare_policy(const Caller& caller, const InitRequest& request);

// policy_invalid, and nothing is written, when something of that name is there.
Status store_policy(const Caller& caller, const NewPolicy& policy);

// A file by its look, named from a working directory that the server will not have.
bool relative_file(std::string_view word);

// policy_invalid for a file of the current directory that is named by a relative path, with the path to write.
Status refuse_relative_files(const std::vector<std::string>& command);

// What a person should know of a command before it is started behind mcp-cordon. Printable sentences.
std::vector<std::string> command_warnings(const InitRequest& request);

}  // namespace cordon::app
