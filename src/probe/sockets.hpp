// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connecting, for the checks of ipc and of the network; each gives an errno, 0 when it worked.

#include <string>

namespace cordon::probe {

int open_socket(int family, int type, int protocol);
// By datagrams: and one that is sent there is not refused.
int connect_ip(const char* address, int port, int type);
int connect_path(const std::string& path, int type);
// To a socket that it makes there first, and takes away again.
int connect_to_own(const std::string& path);
int connect_abstract(const std::string& name);

}  // namespace cordon::probe
