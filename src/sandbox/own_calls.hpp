// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system calls that our own process may still make once the server runs: moving bytes between descriptors that are
// open, waiting, memory, time, and ending the server. No call that opens, makes, starts or connects anything, unless
// the policy lets the server reach hosts: then names are looked up and connections made on its behalf.

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sandbox/syscalls.hpp"

namespace cordon::sandbox {

// Whom we may still send signals, besides ourselves.
enum class Signals : std::uint8_t {
  nobody,
  child,    // the process that was started, and the one that is kept ready, each with its group
  anybody,  // backend `none`: what it leaves behind has to be ended by us, and is not known beforehand
};

std::span<const std::string_view> own_calls();
// `self`: our own pid. `children`: for Signals::child.
std::vector<CallRule> own_rules(pid_t self, Signals signals, std::span<const pid_t> children);

// What is added for looking names up: openat with O_PATH alone, which gives a place and no content.
std::vector<CallRule> look_rules();

// What is added for hosts: TCP and UDP sockets, threads that look names up, and files opened for reading, of which
// Landlock leaves a handful (confine.cpp). Still none that starts a program, makes a file or listens.
std::span<const std::string_view> host_calls();
// `read_files`: Landlock stands before the rest.
std::vector<CallRule> host_rules(bool read_files);

}  // namespace cordon::sandbox
