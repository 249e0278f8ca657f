// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which registry the user's npm asks, how it proves who it is, and what is to be believed of the other side: from the
// files and variables that npm reads, save those of the current directory.

#include <map>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "base/mask.hpp"
#include "egress/plan.hpp"

namespace cordon::app {

struct NpmClient {
  std::string registry = {};                      // the one for names without a scope
  egress::Rules network = {};                     // the registries and nothing else, or the proxy
  std::vector<std::string> environment = {};      // NAME=value for npm; tokens are among the values
  std::vector<NamedSecret> secrets = {};          // to be masked
  std::map<std::string, std::string> files = {};  // name in the private home → content
};

// policy_invalid for settings that this version cannot keep inside a sandbox.
Result<NpmClient> npm_client(const Caller& caller);

// The pure half: what follows from settings. `named_by_user`: keys that do not come from the defaults.
Result<NpmClient> npm_client_of(const std::map<std::string, std::string>& settings);

}  // namespace cordon::app
