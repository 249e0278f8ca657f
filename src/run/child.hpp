// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server's process and all that it started.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/fd.hpp"
#include "core/gate/action.hpp"
#include "egress/plan.hpp"
#include "run/loop.hpp"

namespace cordon::run {

// A started server; the same as sandbox::Launched once its status pipe was read. pid -1: none was started.
struct ServerProcess {
  pid_t pid = -1;          // our direct child
  UniqueFd in = {};        // write end of its stdin
  UniqueFd out = {};       // read end of its stdout
  UniqueFd err = {};       // read end of its stderr
  UniqueFd lifeline = {};  // closing it ends the whole tree, where the backend provides that
  UniqueFd notes = {};     // at its exit: a line of ours for each limit of the whole tree that it ran into; may be none
  egress::Sockets sockets = {};  // of the hosts that it may reach
};

// A second launch of the same plan that waits, with its pipes (sandbox::LaunchOptions::spare). What is called here runs
// when our own process has given up its privileges.
struct SpareServer {
  ServerProcess process = {};  // without sockets
  UniqueFd status = {};
  UniqueFd handover = {};  // where the sockets of its hosts come, if it has some
  // Before it is begun: is everything as it was when the first one was started?
  std::function<Status()> admit = {};
  // Once its server runs, before anything of that is read; with the sockets of its hosts.
  std::function<Result<egress::Sockets>(const UniqueFd& handover)> running = {};
  // It will not be needed.
  std::function<void()> dropped = {};
};

// What a status pipe said, as wait_until_started tells it.
Status start_outcome(std::string_view said);

// Waits until the other end of a status pipe is closed. launch_failed with the text when something was written to it
// ("step: detail"), or when it takes longer than `timeout_ms`.
Status wait_until_started(int status_fd, std::int64_t timeout_ms);

// What stands in `notes` by now, as lines that can be shown.
std::vector<std::string> read_notes(int notes_fd);

// Watches one child. While this lives the process must have no other children whose exit status it wants: orphans of
// the server become our children and are reaped here.
class Child {
 public:
  Child(Loop& loop, pid_t pid, UniqueFd lifeline, std::function<void(gate::ExitReport)> exited);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reports an exit that happened before the watch began.
  void start();
  // Another child of ours that may become the watched one.
  void expect(pid_t spare) { spare_ = spare; }
  // It does, after the exit of the first. False when it is gone already.
  bool replace(UniqueFd lifeline);
  bool running() const { return running_; }

  void terminate();  // SIGTERM to it and its process group, if it leads one
  void kill();       // closes the lifeline, SIGKILL
  // Ends whatever became our child when its parent died, within `timeout_ms`. After exit only.
  void end_orphans(std::int64_t timeout_ms);

 private:
  void reap();
  void send(int number);

  pid_t pid_;
  pid_t spare_ = -1;
  UniqueFd lifeline_;
  UniqueFd children_;  // the kernel's list of them
  std::function<void(gate::ExitReport)> exited_;
  bool running_ = true;
  bool was_subreaper_ = false;
  SignalWatch watch_;
};

}  // namespace cordon::run
