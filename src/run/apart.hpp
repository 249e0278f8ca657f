// SPDX-License-Identifier: Apache-2.0
#pragma once
// Talking to a server from a command that still has work to do afterwards: the talk happens in a process of its own,
// which gives its privileges up before it reads the first byte (sandbox/confine.hpp) and hands back a text.

#include <cstddef>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace cordon::run {

// What `work` gives, from a child that has standard error, the descriptors it opens itself, and nothing else of ours.
// It dies with us; TERM, INT and HUP are handed to it, and waited out. internal when it ends without a word, or says
// more than `max_bytes`. Call it while the process has one thread.
Result<std::string> apart(const std::function<Result<std::string>()>& work, std::size_t max_bytes);

}  // namespace cordon::run
