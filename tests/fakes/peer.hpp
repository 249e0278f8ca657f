// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client of our own for end-to-end tests: starts a program, speaks JSON lines with it, and waits with time-outs on
// what really happens (a line, an end of file, an exit), never on the clock alone.

#include <sys/types.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/tiny_json.hpp"

namespace fake {

class Peer {
 public:
  // Starts argv[0] (an absolute path) in a session of its own, with this environment and no other. Asserts on failure.
  Peer(std::vector<std::string> argv, std::vector<std::string> environment);
  ~Peer();  // kills what is left
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  pid_t pid() const { return pid_; }
  void send(const std::string& line);  // LF is added; a closed pipe is no error
  // As much of `bytes` as there is room for in the pipe now, but at most 1,000: how many were written.
  std::size_t write_some(std::string_view bytes);
  void close_stdin();
  void signal(int number);

  // The next line of stdout without its LF; nothing after an end of file or when the time is over.
  std::optional<std::string> line(int timeout_ms = kPatienceMs);
  // Sends a request and returns the message that answers it; what comes before goes to `others`. Absent when there is
  // no answer in time. `params` is a JSON object.
  Json request(const std::string& id, const std::string& method, const std::string& params = "{}",
               int timeout_ms = kPatienceMs);
  // The answer to an id that was sent before.
  Json answer(const std::string& id, int timeout_ms = kPatienceMs);
  // Legacy opening: initialize and initialized. The answer to the former.
  Json open(const std::string& version = "2025-06-18");
  Json call(const std::string& id, const std::string& tool, const std::string& arguments = "{}");

  // Waits until the process is gone: its exit status, or 128 + signal. Nothing when it is still there.
  std::optional<int> wait_exit(int timeout_ms);
  // Waits until `part` stands in what it wrote to stderr. False when it does not.
  bool wait_stderr(const std::string& part, int timeout_ms = kPatienceMs);
  const std::string& stderr_text() const { return stderr_; }

  std::vector<Json> others = {};        // notifications, and replies that nobody waited for
  std::vector<std::string> stray = {};  // lines that are no JSON objects: there must be none
  static constexpr int kPatienceMs = 10'000;

 private:
  bool pump(std::int64_t deadline_ms);  // reads what is there; false when the time is over or all is closed

  pid_t pid_ = -1;
  int pidfd_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string partial_ = {};
  std::deque<std::string> lines_ = {};
  std::string stderr_ = {};
  std::optional<int> status_ = {};
};

// Pids of the processes whose command line holds `mark`; see --mark of the fake server.
std::vector<pid_t> processes_marked(const std::string& mark);
// Waits until there is none. True when so.
bool wait_gone(const std::string& mark, int timeout_ms);

// The text of the first content block of a tools/call result.
std::string text_of(const Json& answer);
std::int64_t now_ms();

}  // namespace fake
