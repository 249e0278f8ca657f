// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where are we? Everything that is tried hangs on the answer, so it is not taken from a single sign.

#include <string>

#include "probe/check.hpp"

namespace cordon::probe {

// Empty when a launcher of ours has planted the token it gave us (`token`, in the file `marker`): only then is anything
// tried at all. Else why not.
std::string missing_token(const Request& request);

// Empty when this is no place outside: pid and mount namespace are others than the launcher's, /proc is that of this
// namespace and holds next to nothing, uid 0 would be nobody outside, and where the plan has an init of ours, it is
// pid 1 and our parent. Else what is missing.
std::string missing_proof(const Request& request);

// Empty when the network namespace is another than the launcher's and lo its only interface.
std::string other_interfaces(const Request& request);

// "pid:[4026531836]"; empty when it cannot be read.
std::string namespace_name(const char* kind);

}  // namespace cordon::probe
