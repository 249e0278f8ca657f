// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weak_probe.cpp must not reach, planted outside in folders of the test's own.

#include <sys/types.h>

#include <string>

#include "base/fd.hpp"
#include "sandbox/spec.hpp"
#include "sandboxed.hpp"

namespace cordon::test {

class WeakCanaries {
 public:
  WeakCanaries();
  ~WeakCanaries();
  WeakCanaries(const WeakCanaries&) = delete;
  WeakCanaries& operator=(const WeakCanaries&) = delete;

  // A spec that runs `probe` with one read and one write grant, a kept home, and limits.
  sandbox::LaunchSpec spec(const std::string& probe, sandbox::BackendChoice backend) const;
  const TempFolder& folder() const { return folder_; }

 private:
  void plant_files();
  void plant_sockets();
  void plant_process();

  TempFolder folder_ = {};
  UniqueFd path_socket_ = {};
  UniqueFd datagram_socket_ = {};
  UniqueFd abstract_socket_ = {};
  UniqueFd listener_ = {};
  int leaked_fd_ = -1;
  int shared_memory_ = -1;
  int shared_memory_key_ = 0;
  int port_ = 0;
  pid_t process_ = -1;
};

}  // namespace cordon::test
