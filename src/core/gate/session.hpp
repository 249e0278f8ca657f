// SPDX-License-Identifier: Apache-2.0
#pragma once
// One proxied conversation, both eras. Property: any chunking of the same bytes gives the same actions, and after Stop
// every call returns nothing.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/mask.hpp"
#include "base/time.hpp"
#include "core/catalog/catalog.hpp"
#include "core/gate/action.hpp"
#include "core/policy/paths.hpp"
#include "core/policy/policy.hpp"

namespace cordon::gate {

struct SessionConfig {
  policy::Policy policy = {};
  // The reviewed catalog. Absent only with catalog.missing: flag.
  std::optional<catalog::Snapshot> snapshot = {};
  // When set, nothing was launched: every request is answered with this error until initialize was answered, stdin
  // ends, or 10 s pass.
  std::optional<Error> launch_failure = {};
  // JSON object for _meta "dev.mcp-cordon/facts" of the initialize and discover results.
  std::string facts = "{}";
  std::string session_id = {};  // random, names this launch in audit and in own request ids
  MacKey argument_key = {};     // per installation, for digests of arguments in audit
  std::string version = {};     // of mcp-cordon
  std::string spelled = {};     // how a person names the policy to a command: NAME or --policy FILE
  std::map<std::string, std::string> known_values = {};  // of catalog.variables, as far as the launch tells them
  bool read_only = false;                                // run --read-only: only calls of reviewed effect `read` pass
  policy::ServerView view = {};           // for `within`; without its `files` no path passes such a condition
  std::vector<std::string> roots = {};    // folders of the policy as the server sees them
  MacKey confirm_key = {};                // random, of this process alone: for questions to a person
  std::vector<NamedSecret> secrets = {};  // whose values no question shows, and no result if asked
  bool can_approve = false;               // somebody carries out Publish and calls approval()
  bool can_respawn = false;               // a second launch is kept ready: Respawn and DropSpare are carried out
};

class Session {
 public:
  explicit Session(SessionConfig config);
  ~Session();
  Session(Session&&) noexcept;

  Actions feed(Side from, std::string_view bytes, Instant now);
  Actions end(Side from, Instant now);  // end of stream
  Actions exited(ExitReport report, Instant now);
  // After Respawn, once: the second server runs, or why it does not. Before anything is fed, ended or exited of it.
  Actions respawned(const Status& how, Instant now);
  Actions terminate(Instant now);     // SIGTERM or SIGINT was received
  Actions audit_failed(Instant now);  // a Record could not be written
  // What a person decided about a question of the latest Publish, on another terminal: "allow ID DIGEST" or
  // "refuse ID DIGEST", with the SHA-256 (hex) of the question's line as it was shown.
  Actions approval(std::string_view line, Instant now);
  Actions tick(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cordon::gate
