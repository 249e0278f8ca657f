// SPDX-License-Identifier: Apache-2.0
#pragma once
// sandbox: a launch is a plan, then an act. spec → (host facts) → plan → stage helper → exec of the server.
// Must not: know MCP or policies (app translates), use libuv. spec, plan and backends stay pure.
// Start reading here, then plan.hpp, backends/native.cpp, stage/stage.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "egress/plan.hpp"

namespace cordon::sandbox {

enum class BackendChoice : std::uint8_t {
  automatic,
  native,
  bubblewrap,
  landlock,
  podman,
  docker,
  firejail,
  srt,
  seatbelt,
  command,
  none,
};

// No view of its own: what is seen is seen at its own path, and there is no private /tmp or /home/cordon.
constexpr bool shows_host_paths(BackendChoice backend) {
  return backend == BackendChoice::landlock || backend == BackendChoice::firejail || backend == BackendChoice::srt ||
         backend == BackendChoice::seatbelt || backend == BackendChoice::command;
}

struct Mount {
  std::string source = {};  // outside: absolute, resolved, no symlink in it
  std::string target = {};  // inside: absolute
  bool writable = false;
  bool reasoned = false;  // its entry in the policy says why: gaps in the covers below it are accepted
  // Everybody may use it, so that root may show it also where owners cannot be mapped.
  bool usable_as_is = false;
};

// What is started in place of the server while everything is planned for the server: a look from inside.
struct StandIn {
  std::string program = {};  // absolute, real, shown by a mount of the spec; with a template, by the template's program
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::vector<std::string> argv = {};
};

struct Limits {
  std::optional<std::uint64_t> memory_bytes = {};     // RLIMIT_DATA per process
  std::optional<std::uint64_t> processes = {};        // RLIMIT_NPROC
  std::optional<std::uint64_t> open_files = {};       // RLIMIT_NOFILE
  std::optional<std::uint64_t> file_size_bytes = {};  // RLIMIT_FSIZE
  std::optional<std::uint64_t> cpu_seconds = {};      // RLIMIT_CPU
};

// In place of an image: a container of an empty folder, to try an engine (podman).
inline constexpr std::string_view kEmptyImage = "nothing";

// An image that is started in place of a program of this machine (podman, docker).
struct ImageSpec {
  std::string reference = {};                  // "name@sha256:…", or kEmptyImage; empty: none
  std::optional<std::string> entrypoint = {};  // in place of the image's own
  std::string platform = {};                   // what it has to be; empty: whatever it is
  std::string fetch = {};                      // what a person types when it is not there; empty: the engine's own word
};

// What is asked for, with everything about the outside already resolved by the caller.
struct LaunchSpec {
  std::vector<std::string> argv = {};             // argv[0]: absolute path of the real executable
  ImageSpec image = {};                           // with one, argv holds only the arguments; may be empty
  std::string executable = {};                    // when argv[0] is another spelling (a venv's python): the real one
  std::vector<std::string> environment = {};      // NAME=value, complete; nothing else is passed
  std::string cwd = {};                           // inside; empty: HOME
  std::string home_source = {};                   // outside folder for /home/cordon; empty: a temporary one
  std::string temp_source = {};                   // outside folder for TMPDIR, with shows_host_paths()
  std::vector<Mount> mounts = {};                 // grants of the policy
  std::vector<std::string> deny = {};             // inside paths that are masked
  std::vector<std::string> unix_sockets = {};     // sockets of the outside, shown at their own path
  egress::Rules network = {};                     // hosts that may be reached; none: no network at all
  std::vector<std::string> runtime = {"system"};  // presets: node, python, java, browser, system, none
  BackendChoice backend = BackendChoice::automatic;
  std::string srt = {};                          // absolute path of the package's dist/cli.js, for BackendChoice::srt
  bool from_template = false;                    // argv is a template's whole command line, for BackendChoice::command
  std::vector<std::string> template_items = {};  // that line with "{command}" in place of the server's, for a StandIn
  std::string none_reason = {};                  // from the policy, for BackendChoice::none
  std::vector<std::string> require = {};         // guarantee names; with `none` the caller passes only what was written
  bool proc_minimal = false;
  bool syscall_filter = true;
  bool strict_syscalls = false;
  bool nested_userns = false;            // user namespaces of the server's own are allowed
  std::optional<std::string> user = {};  // account to run as when started by root
  Limits limits = {};                    // written in the policy: required
  Limits default_limits = {};            // where `limits` says nothing; may hold in part only
  std::string scratch = {};              // outside folder of ours for files of one launch (podman, docker)
  std::optional<StandIn> stand_in = {};
};

}  // namespace cordon::sandbox
