// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of probe_host, one question each.

#include <string>
#include <vector>

#include "sandbox/host_facts.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

// Makes the namespaces in a child, as the server's uid, and does in them what a launch does.
Trial try_namespaces(const HostFacts& facts);

// Looks for bwrap in system directories (never through PATH), asks what it can, and runs it.
BubblewrapFacts probe_bubblewrap(const HostFacts& facts);

ProgramFacts probe_program(const LaunchSpec& spec, const std::string& home);

// What lies at a path, without following a symlink anywhere on the way.
SourceFacts probe_source(const std::string& path);

// Runs `argv` as the server's uid with an empty environment and without input; its output and errors together, at most
// 64 KiB. `status`: the exit status, 128 + the signal, or -1 when it could not be started.
struct ToolOutput {
  int status = -1;
  int error_number = 0;
  std::string text = {};
};
ToolOutput run_tool(const std::vector<std::string>& argv, const HostFacts& facts);

// In a child of root: becomes the server's uid for good. 0 or an errno.
int become_server_uid(const HostFacts& facts);

}  // namespace cordon::sandbox
