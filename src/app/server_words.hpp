// SPDX-License-Identifier: Apache-2.0
#pragma once
// Listens to a server's stderr during one session and says, for a person, what the sandbox refused and how it ended.
// Only ever on our stderr: nothing of it goes into the protocol or the log of launches.

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/diagnose.hpp"
#include "core/gate/action.hpp"

namespace cordon::app {

class ServerWords {
 public:
  struct Setting {
    Surroundings around;
    std::string policy_path = {};
    bool relayed = true;                             // the person has seen the lines
    std::function<void(std::string_view)> say = {};  // one printable line
  };
  explicit ServerWords(Setting setting) : setting_(std::move(setting)) {}

  // One line, with secrets masked, not escaped.
  void heard(std::string_view line);
  // The same of what a failed call told the client; it is no line of the log.
  void overheard(std::string_view line);
  void exited(const gate::ExitReport& report);
  // At the end. `failed`: of the server itself; then its last words are shown, unless they were relayed.
  void ended(bool failed);

 private:
  std::optional<Finding> look_at(std::string_view line);
  void say(const Finding& finding);

  Setting setting_;
  std::deque<std::string> tail_ = {};  // printable
  std::set<std::string> said_ = {};
  std::size_t looked_at_ = 0;
};

// What a person can do about a server that ended, or did not answer; empty for every other failure. `name`: how the
// policy is named on a command line. `reviewed`: is there a snapshot, so that `run` would start the server?
std::string next_step(Errc code, std::string_view name, bool reviewed);
// The same as the remedy of an error that has none.
Error with_next_step(Error error, std::string_view name, bool reviewed);

// Whatever may hold keys, belongs to the system, or has a hidden name: nobody proposes to grant it.
bool never_proposed(std::string_view path);

}  // namespace cordon::app
