// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which policy belongs to a command: never one of the same name that is for another command.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

// A policy name as near to the name of a server in a config as the rules for names let it be.
std::string policy_name_for(std::string_view server);

enum class PolicyFit {
  none,    // there is no policy of that name
  same,    // it is for this command
  other,   // it is for another one, or takes any
  broken,  // it cannot be read
};
struct PolicyMatch {
  PolicyFit fit = PolicyFit::none;
  std::string path = {};                      // of the policy; empty when there is none
  std::string detail = {};                    // printable: what is wrong with it
  std::vector<std::string> environment = {};  // names that it lets through or sets
  bool fetches_once = false;                  // its package comes from our store, and never at a start
};
PolicyMatch match_policy(const Caller& caller, const std::string& name, const std::vector<std::string>& command);

// May a new policy of that name be made in the user's folder? Not where one is already, and not over a system's or a
// shipped one, unless that is the shipped one for this very command.
bool name_is_free(const Caller& caller, const std::string& name, const std::vector<std::string>& command);

}  // namespace cordon::app
