// SPDX-License-Identifier: Apache-2.0
#pragma once
// What our own process gives up once the server runs, so that a fault in a parser of ours is not the user's home:
// root, capabilities, all files, the network, and every system call that own_calls.hpp does not list. What is open
// stays open: log, pipes, terminal. docs/isolation.md says what stays possible.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "sandbox/own_calls.hpp"

namespace cordon::sandbox {

struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

struct OwnNeeds {
  Signals signals = Signals::nobody;
  pid_t child = -1;  // for Signals::child
  pid_t spare = -1;  // the same, of a second launch that is kept ready
  // Started by root: become this, the server's own identity, since without CAP_KILL no other may end it.
  std::optional<Identity> become = {};
  // The policy lets the server reach hosts: names are looked up and connections made, in threads that start later.
  bool hosts = false;
};

// What could be given up on this kernel.
struct OwnLimits {
  int landlock_abi = 0;  // 0: the kernel has none; then the list of calls alone keeps files closed
  bool calls = false;    // false: not this architecture, or a kernel without seccomp
};
// What a kernel of that kind lets us give up, for a person: "no capabilities, no new files (…), …".
std::string describe(const OwnLimits& limits);

// All of it, for good, checked afterwards. Call it when everything is open that will be needed, in a process with one
// thread. An error where the kernel has something and it did not work: then the process must not go on.
Result<OwnLimits> confine_self(const OwnNeeds& needs);

// The same for the process that looks into the server's files (run/server_files.hpp): it may look names up and read
// where links lead, and opens nothing that could be read.
Status confine_looker(const std::optional<Identity>& become);

// Its steps, in order. Each stands by itself, and tests try each alone.
// FileUid::stays: the uid that files are judged by remains root's; only where files cannot be opened anyway.
enum class FileUid : std::uint8_t { goes, stays };
Status leave_root(const Identity& identity, FileUid file_uid);
Status drop_all_capabilities();
Result<int> close_files(int landlock_abi, const OwnNeeds& needs = {});
Status filter_own_calls(const OwnNeeds& needs);
Status check_confined(const OwnNeeds& needs, const OwnLimits& limits);

// The kernel's, 0 without Landlock.
int running_landlock_abi();

}  // namespace cordon::sandbox
