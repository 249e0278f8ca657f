// SPDX-License-Identifier: Apache-2.0
#pragma once
// run: the order in which a session comes to be. Every step before the launch can fail, and then the client is told in
// its own protocol.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/policy_lookup.hpp"

namespace cordon::app {

struct RunRequest {
  const Caller& caller;
  PolicyChoice choice = {};
  std::vector<std::string> client_command = {};
  bool read_only = false;
  bool trace = false;
  std::string expected_facts = {};  // digest; empty: any
  std::string version = {};
  int client_in = -1;  // borrowed
  int client_out = -1;
};

// Speaks to the client until the session is over. The exit status.
int run_server(const RunRequest& request);

}  // namespace cordon::app
