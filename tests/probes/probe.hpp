// SPDX-License-Identifier: Apache-2.0
#pragma once
// The probe: a program that is started inside a sandbox and tries to get out. One JSON line per attempt:
// {"id", "expected", "got", "errno"}; what was planted outside comes as NAME=VALUE arguments.
// It first proves that it is inside and does nothing else when it is not: no attempt here is meant for a real machine.

#include <functional>
#include <map>
#include <string>

namespace cordon::probe {

// What was planted, by name; absent: that check is not made.
using Canaries = std::map<std::string, std::string>;

// Tries something; the errno of the failure, 0 when it worked.
using Attempt = std::function<int()>;

// `expected`: "denied" (any error), "allowed", or the name of one errno ("EPERM").
void check(const std::string& id, const std::string& expected, const Attempt& attempt);
// A fact instead of an attempt.
void compare(const std::string& id, const std::string& expected, const std::string& got);

// errno of a call that gives -1 on failure.
int result_of(long returned);
// Runs `body` in a child; its exit status, or 1000 + the signal that ended it.
int in_child(const std::function<int()>& body);

void check_files(const Canaries& canaries);
void check_procfs(const Canaries& canaries);
void check_processes(const Canaries& canaries);
void check_network(const Canaries& canaries);
void check_syscalls(const Canaries& canaries);
void check_start(const Canaries& canaries);
// grants.cpp
void check_what_grants_reach(const Canaries& canaries);
bool check_only_listed_sockets(const Canaries& canaries);  // true: that was all that was asked for

inline constexpr int kNotInside = 3;

}  // namespace cordon::probe
