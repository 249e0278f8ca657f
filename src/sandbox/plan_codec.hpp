// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes in which a plan travels to the stage helper, through an inherited memfd: never argv, which everybody reads
// in /proc. Private to one build: both ends are the same version, and a wrong version is refused.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "sandbox/plan.hpp"

namespace cordon::sandbox {

// What the outer stage saw outside, so that the inner one can tell that it is elsewhere and that it sees the right
// objects.
struct Witness {
  // Inode numbers of /proc/self/ns/{user,mnt,pid,net,ipc,uts,cgroup} outside.
  std::array<std::uint64_t, 7> namespaces = {};
  std::vector<FileIdentity> sources = {};  // parallel to Plan::view; zero where there is no source
  std::uint32_t umask = 022;
  bool operator==(const Witness&) const = default;
};

std::string encode(const Plan& plan, const Witness& witness);

struct Decoded {
  Plan plan = {};
  Witness witness = {};
};
// internal when the bytes are not exactly one plan of this version.
Result<Decoded> decode(std::string_view bytes);

}  // namespace cordon::sandbox
