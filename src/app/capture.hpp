// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live catalog of a server, collected under the very launch that `run` would use.

#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/session_context.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"

namespace cordon::app {

struct CaptureRequest {
  const Caller& caller;
  const LoadedPolicy& loaded;
  std::vector<std::string> client_command = {};
  std::string version = {};
  const catalog::Snapshot* reviewed = nullptr;  // classes of definitions that it pins are carried over
  std::vector<std::string> own_files = {};      // no write grant may reach them: where the candidate goes
};

// A candidate with the launch fingerprint of this start. Opens with `initialize` first; a server that refuses that gets
// a new process and `server/discover`.
Result<catalog::Snapshot> capture_candidate(const CaptureRequest& request);

}  // namespace cordon::app
