// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program with a terminal of its own, and a person at it: text is waited for, lines are typed.

#include <sys/types.h>

#include <string>
#include <vector>

class TerminalSession {
 public:
  TerminalSession(const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ~TerminalSession();
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;

  // Waits until `part` appears behind what was waited for before. False at the end of the program or after ten seconds.
  bool wait_for(const std::string& part);
  // What was shown between the two last things that were waited for.
  const std::string& between() const { return between_; }
  void type(const std::string& line);
  // Until the program is gone: its exit status, 128 and more for a signal.
  int wait_exit();
  const std::string& shown() const { return shown_; }

 private:
  bool pump(int timeout_ms);
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_ = {};
  std::string between_ = {};
  std::size_t seen_ = 0;
};
