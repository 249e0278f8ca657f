// SPDX-License-Identifier: Apache-2.0
#pragma once
// init as the one that follows the server and tells what it touched (`run --trace`). It watches and never decides:
// what is allowed stands in the filters, which the kernel asks again after each stop. The server cannot stop it from
// ending things: memory is bounded, no call here waits, and init looks at its other duties between a few stops.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "sandbox/stage/stage.hpp"
#include "sandbox/trace.hpp"
#include "sandbox/trace_calls.hpp"

namespace cordon::sandbox::stage {

// Makes the server wait, before its first step, until it is followed. init makes one before the fork.
class TraceGate {
 public:
  Outcome open();
  Outcome wait();     // server
  Outcome release();  // init

 private:
  UniqueFd in_ = {};
  UniqueFd out_ = {};
};

class Tracer {
 public:
  explicit Tracer(UniqueFd out);

  // Before init sheds its capabilities: where Yama restricts ptrace, they are needed. `ptrace_denied`.
  Outcome follow(pid_t server);

  // To be told every status that waitpid gives with __WALL. True when it was a stop, which concerns nobody else.
  bool took(pid_t pid, int status);

  // Writes as much as the pipe takes.
  void flush();
  bool unsent() const { return !out_text_.empty() && static_cast<bool>(out_); }
  int out_fd() const { return out_.get(); }
  // The last line; waits for a reader no longer than `wait_ms`.
  void finish(int wait_ms);

 private:
  // A call that was entered and whose outcome is waited for.
  struct Call {
    const TracedCall* what = nullptr;
    TraceAccess access = TraceAccess::look;
    std::string path = {};
    std::string second = {};
  };

  bool enter(pid_t pid);
  void leave(pid_t pid);
  void executed(pid_t pid);
  bool describe(pid_t pid, const std::uint64_t* arguments, Call& call) const;
  void record(const Call& call, pid_t pid, std::int64_t outcome);
  void add(const TraceFinding& finding);

  UniqueFd out_;
  std::map<std::uint64_t, const TracedCall*> calls_by_number_ = {};
  std::map<pid_t, Call> open_calls_ = {};
  std::set<std::string> seen_ = {};
  std::size_t seen_bytes_ = 0;
  std::string out_text_ = {};
  TraceEnd counts_ = {};
  pid_t server_ = -1;
  bool live_ = false;  // the server's program runs; before, it is our own code
};

}  // namespace cordon::sandbox::stage
