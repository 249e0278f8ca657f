// SPDX-License-Identifier: Apache-2.0
#pragma once
// What firejail is always told: by the plan, and by the probe that tries it.

#include <array>
#include <string_view>

namespace cordon::sandbox {

// Its profiles open the home and the machine's sockets to programs that they know, so none is used, and everything is
// said here. Descriptors: those of stage/descriptors.hpp, high.
inline constexpr std::array<std::string_view, 19> kFirejailOptions = {"--quiet",
                                                                      "--noprofile",
                                                                      "--caps.drop=all",
                                                                      "--nonewprivs",
                                                                      "--nogroups",
                                                                      "--net=none",
                                                                      "--ipc-namespace",
                                                                      "--private-dev",
                                                                      "--nodbus",
                                                                      "--nosound",
                                                                      "--no3d",
                                                                      "--nou2f",
                                                                      "--novideo",
                                                                      "--notv",
                                                                      "--nodvd",
                                                                      "--noinput",
                                                                      "--deterministic-exit-code",
                                                                      "--deterministic-shutdown",
                                                                      "--keep-fd=103,104,105,106,107,108,109"};

}  // namespace cordon::sandbox
