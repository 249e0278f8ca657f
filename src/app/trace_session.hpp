// SPDX-License-Identifier: Apache-2.0
#pragma once
// The listener of a traced launch: a process of its own, which has given up its privileges before the server is
// started, writes the file and the summary when the server's end of the pipe is closed, and ends. It is no child of
// ours and in no process group of ours: a client that kills us does not take the trace along.

#include <cstdint>
#include <string>

#include "app/trace_report.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "sandbox/plan.hpp"

namespace cordon::app {

// <state>/trace/<server>, and the file's name there for a log of that name.
std::string trace_folder(const std::string& state_folder, const std::string& server);
std::string trace_file_name(const std::string& log_path);

class TraceSession {
 public:
  // Creates `path` (0600, it must not exist) and starts the listener, which writes its summary to `summary_fd`.
  // Before any thread. file_unreadable, file_untrusted, unsupported_isolation, internal.
  static Result<TraceSession> start(TraceSetting setting, const std::string& path, int summary_fd);

  // For sandbox::launch; after that let_go, or the end would never come.
  int pipe() const { return pipe_.get(); }
  void let_go() { pipe_.reset(); }
  // Nothing was started: the file goes, too.
  void abandon();
  // Until the listener is done, but no longer than this.
  void wait(std::int64_t most_ms);

 private:
  std::string path_ = {};
  UniqueFd pipe_ = {};
  UniqueFd done_ = {};  // at its end the listener is gone
};

// Can the plan be traced at all? unsupported_isolation when not.
Status admit_trace(const sandbox::Plan& plan);

}  // namespace cordon::app
