// SPDX-License-Identifier: Apache-2.0
#pragma once
// audit show and audit verify.

#include <functional>
#include <string>
#include <string_view>

#include "app/caller.hpp"
#include "app/policy_lookup.hpp"
#include "base/error.hpp"

namespace cordon::app {

// The server whose log is meant: that of a policy file, or NAME itself when it has a log, or the server of the policy
// NAME.
Result<std::string> audited_server(const Caller& caller, const PolicyChoice& choice);

using Print = std::function<void(std::string_view)>;

// Every record in order: one line for a person each, or one JSON object with all of them.
Status show_audit(const Caller& caller, const std::string& server, bool json, const Print& print);

struct AuditVerdict {
  bool intact = false;
  std::string text = {};
  std::string json = {};
};
// `head`: one that was noted earlier and must be in the log, "FILE SEQ HASH"; empty: none.
Result<AuditVerdict> verify_audit(const Caller& caller, const std::string& server, std::string_view head);

}  // namespace cordon::app
