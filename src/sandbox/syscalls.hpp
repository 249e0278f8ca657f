// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system calls a server may make, as data. An allow-list: what is in neither list is answered EPERM when its number
// lies in the table (kTableEnd), ENOSYS above it, so that a call which a later kernel brings is never let through and
// programs fall back as on an older kernel. A foreign architecture (int 0x80, x32) kills the process.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace cordon::sandbox {

// The last number that is judged by name. Above it everything is ENOSYS but what has a number in rules().
inline constexpr int kTableEnd = 450;

// What a rule answers: 0 lets the call through, else it fails with this errno.
using Verdict = int;

// (argument & mask) == value, on the low 32 bits: all arguments that are tested here are ints for the kernel, which
// ignores the upper half, and so must the filter.
struct ArgumentTest {
  std::uint8_t argument = 0;
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
};

// The first rule of a call whose tests all hold decides; EPERM when none does.
struct CallRule {
  std::string_view name = {};
  Verdict verdict = 0;
  std::uint8_t tests = 0;  // how many of `test` count
  std::array<ArgumentTest, 3> test = {};
  int number = -1;  // calls newer than libseccomp 2.5 have one number on every architecture
};

// A whole list: what build_filter() makes a program of.
struct CallTable {
  std::span<const std::string_view> allowed = {};  // whatever their arguments
  std::span<const CallRule> rules = {};
  std::span<const std::string_view> absent = {};
  std::span<const CallRule> overrides = {};  // take the place of all that is said above of the same calls
};

// The server's list, in parts. Calls that are let through whatever their arguments.
std::span<const std::string_view> allowed_calls();
// The rule by which socket() makes Unix sockets.
bool is_unix_socket_rule(const CallRule& rule);
// Rules by argument; those of one call stand together.
std::span<const CallRule> rules();
// What takes the place of all that is said above about a call where the machine's own names are in view.
std::span<const CallRule> shared_rules();
// Overrides where no Unix socket may be made: pairs stay, save those that can send to others.
std::span<const CallRule> stream_pair_rules();
// Inside the table, but answered ENOSYS because programs fall back on it: their arguments lie in memory, where a
// filter cannot look (clone3 for flags, openat2 for mode bits).
std::span<const std::string_view> absent_calls();

}  // namespace cordon::sandbox
