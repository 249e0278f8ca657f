// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random values: the key of this installation, and names of sessions.

#include <string>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"

namespace cordon::app {

// The key under which arguments are digested in the audit log: with it, equal arguments have equal digests, without it
// nobody can try values. STATE/argument.key, made by whoever comes first. audit_unavailable when it can neither be read
// nor made.
Result<MacKey> installation_key(const Caller& caller);

// Of this process alone.
MacKey random_key();

// 16 hex digits from the kernel's random numbers.
std::string random_session_id();

}  // namespace cordon::app
