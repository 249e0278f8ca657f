// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the probe must not reach, planted outside in folders of the test's own.

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.hpp"
#include "sandbox/spec.hpp"
#include "sandboxed.hpp"

namespace cordon::test {

class Canaries {
 public:
  Canaries();
  ~Canaries();
  Canaries(const Canaries&) = delete;
  Canaries& operator=(const Canaries&) = delete;

  // A spec of the probe's checks of listed sockets alone.
  sandbox::LaunchSpec listed_socket_spec(sandbox::BackendChoice backend) const;
  // A spec that runs the probe with one read and one write grant, masks in both and limits.
  sandbox::LaunchSpec spec(sandbox::BackendChoice backend) const;
  const TempFolder& folder() const { return folder_; }

 private:
  void plant_files();
  void plant_steering();
  void plant_sockets();
  void plant_grant_sockets();
  void plant_process();

  TempFolder folder_ = {};
  UniqueFd path_socket_ = {};
  std::vector<UniqueFd> granted_ = {};  // sockets and FIFOs in the grants
  UniqueFd abstract_socket_ = {};
  UniqueFd listener_ = {};
  int leaked_fd_ = -1;
  int shared_memory_ = -1;
  int shared_memory_key_ = 0;
  int port_ = 0;
  pid_t process_ = -1;
};

// Runs the probe by this plan and gives what it found wrong, one line each; empty: the boundary held. `checks`: how
// many attempts were made.
std::string breaches(const sandbox::Plan& plan, std::size_t& checks);

}  // namespace cordon::test
