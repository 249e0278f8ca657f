// SPDX-License-Identifier: Apache-2.0
#pragma once
// A proxy in a process of its own, with a /bin/sh script as its server and an engine made of switches. The test is the
// client. Nothing here waits by sleeping: every wait is for a byte, an end of file or an exit, with a deadline.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "run/proxy.hpp"
#include "support/pipes.hpp"

namespace cordon::run::test {

// What the fake engine does. It relays chunks as they come and traces every call.
struct Behaviour {
  bool record_chunks = false;  // a Record before each chunk that goes to the server
  int fail_record = -1;        // the sink fails at this record, counted from 0
  bool answer_client = false;  // chunks of the client come back to it instead of going to the server
  bool answer_server = false;  // chunks of the server come back to it instead of going to the client
  bool close_on_end = true;    // CloseServerInput at the client's end
  std::int64_t kill_after_end_ms = 1200;
  std::int64_t tick_after_start_ms = -1;
  bool stop_on_audit_failure = true;
  bool stop_on_exit = true;
  bool stop_on_client_end = false;
  bool respawn_on_exit = false;  // the first time; then `drop_spare` or an exit
  bool drop_spare_at_start = false;
  bool stop_on_server_end = false;
  bool terminate_on_signal = true;
  std::string greeting = {};  // to the client at the start
  bool stop_at_start = false;
  int status = 7;  // of Stop
};

// A shell script that waits for the word on its lifeline, as a spare stage does; `script` runs then. With `says`, that
// is what its status pipe tells instead. It leads a process group: what it starts ends with it only when the group
// does.
SpareServer spare_server(const std::string& script, const std::string& says = {});

enum class ClientKind { pipe, socket };

// True when a byte or the end of file can be read within `timeout_ms`.
bool readable(int fd, int timeout_ms);

// Lines "0\n1\n2\n…" of at least `bytes` bytes.
std::string numbered(std::size_t bytes);

class ProxyRun {
 public:
  struct Options {
    std::string script = "exec cat";  // empty: no server
    Behaviour behaviour = {};
    ClientKind client = ClientKind::pipe;
    std::function<void(ProxyConfig&)> tune = [](ProxyConfig&) {};
    std::function<void()> before = [] {};  // in the process of the proxy
    int client_in = -1;                    // borrowed, instead of a pipe
    int client_out = -1;
    std::string audit_state_dir = {};  // a real audit log instead of the fake sink
  };
  explicit ProxyRun(Options options);
  ~ProxyRun();

  void send(std::string_view bytes);  // blocks like a client does
  // As much as the proxy takes without waiting longer than `quiet_ms` for it to take more.
  std::size_t send_until_stuck(std::string_view chunk, std::size_t most, int quiet_ms);
  void close_input() { in.reset(); }
  // Reads until `count` bytes are there, or the end.
  std::string receive(std::size_t count);
  std::string receive_all() { return receive(static_cast<std::size_t>(-1)); }
  // Waits for the line in the trace of the engine.
  bool wait_for(std::string_view traced);
  // True when the engine is called for nothing that is traced for that long.
  bool quiet_for(int ms) { return !readable(trace_pipe_.read.get(), ms); }
  // Waits for the proxy's end; -signal when it was killed.
  int wait();
  std::int64_t resident_kb() const;
  std::string log() { return cordon::test::read_available(log_pipe_.read.get()); }
  std::string log_to_end();

  pid_t pid = -1;
  UniqueFd in;
  UniqueFd out;
  UniqueFd lifeline;  // read end; end of file when the proxy let go of the other end
  std::string trace;

 private:
  [[noreturn]] void child(Options& options);
  cordon::test::Pipe log_pipe_;
  cordon::test::Pipe trace_pipe_;
  cordon::test::Pipe lifeline_pipe_;
  bool trace_ended_ = false;
  bool waited_ = false;
};

}  // namespace cordon::run::test
