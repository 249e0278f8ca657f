// SPDX-License-Identifier: Apache-2.0
#pragma once
// Both ends of the files in STATE/approve (docs/formats/approve.md): `run` makes a pair of them before it gives up
// files, `approve` lists what waits in those of all sessions and writes decisions.

#include <cstdint>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "base/time.hpp"
#include "core/policy/policy.hpp"
#include "run/approval_desk.hpp"

namespace cordon::app {

// Can a call of this policy wait for a person on another terminal?
bool may_wait_for_approval(const policy::Tools& tools);

// The files of one session, which end with it: those of sessions that are gone are removed. file_untrusted when the
// folder is not the user's alone, file_unreadable when they cannot be made.
Result<run::ApprovalDesk> open_approval_desk(const Caller& caller, const std::string& session_id);

struct WaitingCall {
  std::string file = {};  // of the session, with the calls that wait
  std::string id = {};
  std::string server = {};
  std::string tool = {};  // printable
  std::string text = {};  // lines, to be made printable once more
  std::string digest = {};
  Instant until = {};
};

// Of all sessions that live, the next to end first. file_untrusted for a file or folder that somebody else could have
// written.
Result<std::vector<WaitingCall>> waiting_calls(const Caller& caller, Instant now);

// Tells the session, and waits until it has taken the decision. confirmation_unavailable when the call does not wait
// any more or was decided about on another terminal, timed_out when the session does not answer.
enum class Approval : std::uint8_t { allow, refuse };
Status decide_call(const Caller& caller, const WaitingCall& call, Approval approval);

}  // namespace cordon::app
