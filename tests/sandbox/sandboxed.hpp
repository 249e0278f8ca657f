// SPDX-License-Identifier: Apache-2.0
#pragma once
// Running something under a backend and looking at what came of it.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "sandbox/host_facts.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/spec.hpp"

namespace cordon::test {

struct Outcome {
  std::string status = {};  // what the stage reported; empty: the server was executed
  std::string out = {};
  std::string err = {};
  int exit_code = -1;
};

// A spec for `argv` under a backend with presets, a clean environment and all default guarantees required.
sandbox::LaunchSpec spec_for(std::vector<std::string> argv, sandbox::BackendChoice backend);

// Makes the plan on this machine; a refusal is thrown as std::runtime_error (a test failure).
sandbox::Plan plan_for(const sandbox::LaunchSpec& spec);

sandbox::Launched start(const sandbox::Plan& plan, int trace_fd = -1);

// Launches, closes stdin after `input`, reads everything, waits.
Outcome run(const sandbox::Plan& plan, const std::string& input = {});
Outcome finish(sandbox::Launched launched, const std::string& input = {});

// Exit status; 128 + signal when it was killed.
int wait_for(pid_t pid);

std::string read_to_end(int fd);
// Nothing can be read, and no end is there, for that long.
bool silent(int fd, int ms);
// Reads until `wanted` came or the other side closed; gives what was read.
std::string read_until(int fd, std::string_view wanted);

// A folder that only this test has, removed at the end. Readable by everybody: the sandboxed uid is another one.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write_file(const std::string& path, const std::string& content, unsigned mode = 0644);
std::string read_file(const std::string& path);

// Prints why and returns true when this machine cannot run `backend`; with CORDON_REQUIRE_SANDBOX=1 that fails the
// test instead.
bool must_skip(sandbox::BackendChoice backend);

// Runs `body` in a child as uid and gid 1999 without groups when we are root, directly else; doctest checks do not
// cross the border: the body throws or returns a text, which is handed back (empty: fine).
std::string in_child(const std::function<std::string()>& body);  // as we are, but in a child
std::string as_ordinary_user(const std::function<std::string()>& body);
std::string as_we_are(const std::function<std::string()>& body);

}  // namespace cordon::test
