// SPDX-License-Identifier: Apache-2.0
#include "sandbox/container_client.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"

namespace cordon::sandbox {

std::vector<std::string> container_client_environment(const std::string& home) {
  std::vector<std::string> out = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                  text::cat("HOME=", home),
                                  // Nothing that a configuration adds to every container: mounts, devices, variables.
                                  "CONTAINERS_CONF=/dev/null"};
  const std::string runtime = text::cat("/run/user/", ::geteuid());
  if (struct stat status = {}; ::stat(runtime.c_str(), &status) == 0 && status.st_uid == ::geteuid()) {
    out.push_back(text::cat("XDG_RUNTIME_DIR=", runtime));
  }
  return out;
}

}  // namespace cordon::sandbox
