// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carrying a plan out: starts the stage helper, which reports on a status pipe and then becomes the server.

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "egress/plan.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox {

// A started tree. Closing `lifeline` (or our death) makes the kernel end all of it.
struct Launched {
  pid_t pid = -1;       // direct child: the outermost stage process (or the server itself with `none`); wait for it
  UniqueFd server_in;   // write end of the server's stdin
  UniqueFd server_out;  // read end of its stdout
  UniqueFd server_err;  // read end of its stderr
  UniqueFd status;      // read end: one line "step: detail" on failure, end of file without a byte once exec succeeded
  UniqueFd lifeline;
  UniqueFd handover;  // with allowed hosts only: where their sockets have been sent to once `status` is at its end
  UniqueFd go;        // of a held launch: for release(); when it is closed without that, the server is not executed
  UniqueFd notes;     // read end, with control groups only: at the end of the tree a line for each limit it ran into
};

struct LaunchOptions {
  int trace_fd = -1;            // borrowed, write end of a pipe: for a plan that is traced
  std::string stage_path = {};  // empty: ../libexec/mcp-cordon/stage seen from our own executable
  bool spare = false;           // it waits for begin(), with all that it will need; closing `lifeline` ends it
  bool held = false;            // everything is set up, but the server is executed only after release()
};

// Starts the plan and returns at once; read `status` to learn how it went. launch_failed when not even that worked.
// Call it from a thread that lives as long as the server: the kernel ties the tree to the thread that started it.
// SIGTERM to `pid` is handed to the server; what is still there 800 ms later is killed.
Result<Launched> launch(const Plan& plan, const LaunchOptions& options = {});

// Lets a spare one carry its plan out. Needs no right but to write. launch_failed when it is gone.
Status begin(const UniqueFd& lifeline);

// Can its launch be held? Not where others stand between us and the server, or follow it.
bool can_be_held(const Plan& plan);

// Lets a held launch execute the server. launch_failed when it is gone; its status pipe says why.
Status release(const UniqueFd& go);

// The sockets of the allowed hosts; call it when `status` has told that the server was started. launch_failed when they
// are not all there. Without hosts there are none.
Result<egress::Sockets> receive_sockets(const Plan& plan, const UniqueFd& handover);
Result<egress::Sockets> receive_sockets(const Plan& plan, const Launched& launched);

// Reads a line of `status`: unsupported_isolation when it carries a reason code, else launch_failed.
Error error_from_status(std::string_view line, std::string_view backend);

}  // namespace cordon::sandbox
