// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looking into a process that is stopped. It may have other threads that change what is read: what is found out here is
// what it says about itself, good for a report and for no decision. Nothing here waits for it, and nothing of the file
// system is looked up but the links of /proc.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cordon::sandbox::stage {

// The path that a call was given, absolute; empty when there is none. Nothing when it cannot be read.
std::optional<std::string> read_path(pid_t pid, int folder, std::uint64_t address);

// A socket's address, as in TraceFinding; empty when it is of another kind. Nothing when it cannot be read.
std::optional<std::string> read_address(pid_t pid, std::uint64_t address, std::uint64_t length);

// What a descriptor of it is open on; nothing when that has no name.
std::optional<std::string> opened_path(pid_t pid, std::int64_t fd);

}  // namespace cordon::sandbox::stage
