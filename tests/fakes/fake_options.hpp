// SPDX-License-Identifier: Apache-2.0
#pragma once
// The switches of the fake server. Without any it is honest; each switch adds one way to misbehave. They are taken from
// the command line and from the variable FAKE_SWITCHES, by which one and the same launch can behave differently.

#include <map>
#include <optional>
#include <string>

namespace fake {

struct Options {
  std::string drift = {};            // --drift=KIND: the catalog differs from the honest one from the start
  std::string later_drift = {};      // --drift-after=N:KIND, --quiet-drift-after=N:KIND: it differs after N calls
  int drift_after = -1;              //
  bool drift_is_announced = true;    // --drift-after sends list_changed, --quiet-drift-after does not
  int page_size = 0;                 // --page=N tools a page
  std::string cursor = {};           // --cursor=loop (never ends) | empty (the first cursor is "")
  bool duplicate_tools = false;      // --duplicate-tools: echo stands twice
  int more_tools = 0;                // --tools=N further tools
  bool more_kinds = false;           // --prompts: prompts and resources are offered as well
  bool one_era = false;              // --one-era: once one era was opened, the other is refused
  bool exit_on_probe = false;        // --exit-on-probe: ends at the first request that is not initialize
  bool banner = false;               // --banner: chatter on stdout before the first message
  bool chatter = false;              // --chatter: a stray line on stdout before each reply
  int flood = 0;                     // --flood=N log notifications after the opening
  int stderr_lines = 0;              // --stderr=N lines on stderr, with terminal escapes
  std::string silent = {};           // --silent=METHOD (or all): never answers it
  std::string crash = {};            // --crash=METHOD: aborts when it comes
  std::optional<int> exit_now = {};  // --exit=STATUS: ends before it reads anything
  bool ignore_eof = false;           // --ignore-eof: stays when stdin ends
  bool ignore_sigterm = false;       // --ignore-sigterm
  bool grandchild = false;           // --grandchild: starts a process that outlives it
  std::map<std::string, std::string> replies;  // --reply=METHOD:KIND, see spoil()
  unsigned mix = 0;                            // --mix=SEED, not 0: see Server::mix() in fake_server.cpp
  std::string mark = {};                       // --mark=WORD: does nothing; lets a test find the process
};

// Ends the program with status 2 on a word that is not known.
Options parse_options(int argc, char** argv);

// One whole reply made wrong in the way `kind` says; may be several lines, each with its LF.
std::string spoil(const std::string& kind, const std::string& id, const std::string& result);

}  // namespace fake
