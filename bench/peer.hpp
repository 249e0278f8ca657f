// SPDX-License-Identifier: Apache-2.0
#pragma once
// bench: measures the proxy side by side with a bare relay, in one run. Nothing here is a test: figures, no verdicts
// that fail a build. Start reading at bench.cpp; peer.hpp is one started command that speaks MCP on its pipes.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace cordon::bench {

// Says why on stderr and ends the program: a measurement that went wrong has no figure.
[[noreturn]] void die(std::string_view why);

std::int64_t now_ns();

struct Command {
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};  // NAME=value; complete
};

class Peer {
 public:
  // `log` takes the command's stderr.
  Peer(const Command& command, const std::string& log);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void send(std::string_view line);
  // The next line of the peer that is the reply to `id`, without its LF; valid until the next call.
  std::string_view reply(std::int64_t id);
  // Sends tools/call for tool_0 with these arguments (JSON members) and waits for the reply.
  std::string_view call(std::string_view members);
  // The handshake, and one tools/list. Returns the size of the list in bytes.
  std::size_t open();
  void wait_for_line() { read_line(); }
  std::int64_t next_id() { return ++last_id_; }

  // For peers that stall: sends `line` until nothing more is taken for `patience_ms`; the number of bytes taken. The
  // "ID" in it becomes a new number each time.
  std::size_t send_until_stalled(const std::string& line, std::size_t at_most, int patience_ms);
  // Closes stdin, reads to the end and reaps; the exit status as waitpid gives it.
  int finish();

  pid_t pid() const { return pid_; }

 private:
  std::string_view read_line();

  pid_t pid_ = -1;
  UniqueFd in_;
  UniqueFd out_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t scanned_ = 0;
  std::int64_t last_id_ = 0;
  std::string log_;
};

// Runs a command to its end with stdin from /dev/null and stdout to `output`; its exit status.
int run(const Command& command, const std::string& output, const std::string& log);

}  // namespace cordon::bench
