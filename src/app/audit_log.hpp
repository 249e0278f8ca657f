// SPDX-License-Identifier: Apache-2.0
#pragma once
// audit show, verify and compare.

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

// Two launches of the server side by side. Each is named by its number from 1 (the oldest), by `last` or `previous`
// (the one before), by the name of its log, or by the path of a file of the server's log folder. The text for a person,
// or one JSON object. file_unreadable when there is no such launch.
struct AuditPair {
  std::string before = "previous";
  std::string after = "last";
};
Result<std::string> compare_audit(const Caller& caller, const std::string& server, const AuditPair& pair, bool json);

}  // namespace cordon::app
