// SPDX-License-Identifier: Apache-2.0
#pragma once
// The list of syscalls.hpp in the JSON that container engines take (--security-opt seccomp=FILE). Pure.
// The same calls are let through as by syscall_filter.hpp. What the format cannot say: other errors than EPERM for some
// arguments, and ENOSYS above the table (the engine's library knows no newer calls); both are refused all the same, and
// inside our own filter answers first.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::sandbox {

// `architecture` as filter_architecture() gives it; empty text for one that the format has no name for.
std::string seccomp_profile(std::string_view architecture);

// A value is in the cube when (value & mask) == bits.
struct Cube {
  std::uint32_t mask = 0;
  std::uint32_t bits = 0;
  bool operator==(const Cube&) const = default;
};
// Disjoint cubes that hold every value but these: the format can say "equal under a mask", but not "other than".
std::vector<Cube> all_but(std::span<const std::uint32_t> values);

}  // namespace cordon::sandbox
