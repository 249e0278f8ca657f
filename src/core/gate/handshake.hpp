// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rewriting of the opening, in both eras: capabilities pass by table only, instructions and identity as reviewed.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/catalog.hpp"
#include "core/gate/catalog_view.hpp"
#include "core/json/value.hpp"
#include "core/policy/policy.hpp"
#include "core/wire/methods.hpp"

namespace cordon::gate {

// What a server said of itself in `initialize` or `server/discover`.
struct Identity {
  std::optional<std::string> instructions = {};
  std::string server_info = "{}";   // canonical JSON
  std::string capabilities = "{}";  // canonical JSON
};
Identity read_identity(const json::Value& result, const json::Value& server_info);

// The judged opening.
struct JudgedOpening {
  std::string server_info = "{}";                // as served
  std::optional<std::string> instructions = {};  // as served
  std::string capabilities = "{}";               // as served in the handshake era
  std::string stateless_capabilities = "{}";     // and in the other
  std::set<wire::Feature> features = {wire::Feature::base};
  std::set<wire::Feature> list_changed = {};  // whose listChanged is declared to the client
  bool subscribe = false;                     // so is resources.subscribe
  bool task_calls = false;                    // handshake era: calls may ask to become tasks,
  bool task_list = false;                     // which can be listed
  bool task_cancel = false;                   // and cancelled
  bool task_extension = false;                // stateless era: calls may become tasks
  bool blocked = false;                       // drift of identity, instructions or capabilities blocks calls
  std::vector<DriftNote> drift = {};
};
// `snapshot` may be null only with catalog.missing: flag, when everything is served as it is live.
JudgedOpening judge_opening(const policy::Policy& policy, const catalog::Snapshot* snapshot, const Identity& live);

// Does a server of the stateless era, by its capabilities, have tasks?
bool has_task_extension(const json::Value& capabilities);

// Result objects for the client. `facts` is a JSON object.
std::string initialize_result(std::string_view protocol_version, const JudgedOpening& opening, std::string_view facts);
std::string discover_result(const JudgedOpening& opening, std::string_view facts);

}  // namespace cordon::gate
