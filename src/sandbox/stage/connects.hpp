// SPDX-License-Identifier: Apache-2.0
#pragma once
// UnixSockets::supervised: the server may make Unix sockets and connect to those of its own, and to none of the outside
// that lies in a folder which it is shown. Only a name tells one from the other, and the filter cannot read it; so the
// filter leaves each connect() to init, which reads the address once and connects the very same socket in the server's
// place, to what it has looked at. Nothing of it is ever left for the kernel to read again.

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "base/fd.hpp"
#include "sandbox/stage/stage.hpp"

namespace cordon::sandbox::stage {

// An address that is longer than any: the kernel says EINVAL to it, and init this. So the server can see, before it is
// one, that somebody answers.
inline constexpr unsigned kImpossibleLength = 0x7fffffff;
inline constexpr int kImpossibleAnswer = ENAMETOOLONG;

// The way by which the server's process hands the descriptor of its filter to init.
Outcome open_asking(Stage& stage);
Outcome hand_over_listener(Stage& stage, UniqueFd listener);

// Init's part. Without such a plan it does nothing.
class Connects {
 public:
  explicit Connects(Stage& stage);
  std::array<pollfd, 2> watched() const;
  void serve(const std::array<pollfd, 2>& ready);
  void ended(pid_t pid) { workers_.erase(pid); }

 private:
  void answer_next();
  bool may_reach(int place) const;
  int place_of_socket(int folder, const std::string& path, UniqueFd& place) const;

  UniqueFd asking_ = {};
  UniqueFd listener_ = {};
  std::vector<std::uint64_t> own_mounts_ = {};  // ids of those that hold nothing of the outside
  std::uint64_t own_namespace_ = 0;
  std::set<pid_t> workers_ = {};
};

}  // namespace cordon::sandbox::stage
