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
inline constexpr Verdict kAskInit = -1;  // whoever listens to the filter answers

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

// What a launch asks of the list beyond the ordinary.
struct FilterChoice {
  bool strict = false;         // without what a server that talks over its standard streams does not need
  bool nested_userns = false;  // with what a browser's own sandbox needs
};

// What a server may do with Unix sockets (unix_sockets.cpp says when). A connected pair can be made always.
enum class UnixSockets : std::uint8_t {
  allowed,
  refused,     // socket() makes none
  supervised,  // connect() is left to init, which knows the server's own from others (stage/connects.hpp)
};
std::string_view name(UnixSockets sockets);

// A whole list: what build_filter() makes a program of.
struct CallTable {
  std::span<const std::string_view> allowed = {};  // whatever their arguments
  std::span<const CallRule> rules = {};
  std::span<const std::string_view> absent = {};
  std::span<const CallRule> overrides = {};  // take the place of all that is said above of the same calls
  std::span<const CallRule> first = {};      // come before `rules`
};

// The server's list, in parts. Calls that are let through whatever their arguments.
std::span<const std::string_view> allowed_calls();
// The rules by which socket() and socketpair() make Unix sockets.
bool is_unix_socket_rule(const CallRule& rule);
// Take their place where nothing of the outside may be reached: no datagrams, since a datagram takes an address along
// even on a connected pair, and with `supervised` init is asked.
std::span<const CallRule> unix_socket_rules(UnixSockets sockets);
// Rules by argument; those of one call stand together.
std::span<const CallRule> rules();
// Come before rules() with `nested_userns`.
std::span<const CallRule> nested_userns_rules();
// Calls that `strict` takes out of both lists, each with what they are answered.
std::span<const CallRule> strict_rules();
// What takes the place of all that is said above about a call where the machine's own names are in view.
std::span<const CallRule> shared_rules();
// Inside the table, but answered ENOSYS because programs fall back on it: their arguments lie in memory, where a
// filter cannot look (clone3 for flags, openat2 for mode bits).
std::span<const std::string_view> absent_calls();

}  // namespace cordon::sandbox
