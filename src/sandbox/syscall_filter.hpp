// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns the list of syscalls.hpp into a kernel filter. Numbers come from libseccomp's table (this is the only file pair
// that knows it); the program is our own, because libseccomp's rules cannot say "above this number" nor "any request
// but these", and because building it there took a fifth of a launch.

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sandbox/syscalls.hpp"

namespace cordon::sandbox {

// The name of this architecture ("x86_64"); empty when the filter does not know it.
std::string filter_architecture();

// shared: there is no namespace of our own around; what would reach the machine's network, ipc, processes or the
// attributes of its files is refused, too.
enum class Surroundings : std::uint8_t { own, shared };

// unsupported_isolation on an architecture that the filter does not know.
Result<std::vector<sock_filter>> build_filter(const CallTable& table);
// The one of a server.
Result<std::vector<sock_filter>> build_filter(FilterChoice choice = {}, UnixSockets sockets = UnixSockets::allowed,
                                              Surroundings surroundings = Surroundings::own);

// Number of a call on this architecture; negative when it has none.
int call_number(std::string_view name);

}  // namespace cordon::sandbox
