// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a program that failed says on stderr, read for what a sandbox can be the cause of. A table of common shapes:
// node, python, go, java, rust, shells, the dynamic loader. Untrusted text in, a value out; nothing else is looked at.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::app {

enum class Ailment : std::uint8_t {
  missing,      // ENOENT
  denied,       // EACCES, EPERM
  read_only,    // EROFS
  library,      // the dynamic loader did not find one
  refused,      // ECONNREFUSED
  unreachable,  // ENETUNREACH, EHOSTUNREACH
  unresolved,   // a name could not be looked up
  memory,       // ENOMEM and runtimes' own words for it
  open_files,   // EMFILE
  processes,    // EAGAIN from fork
  no_space,     // ENOSPC
};

struct Complaint {
  Ailment ailment = Ailment::missing;
  std::string path = {};  // absolute; empty when the line names none
  std::string host = {};  // a name or address, perhaps with a port behind a colon
  std::string library = {};
  std::string call = {};        // what the kernel was asked for, where no path is in question: "ptrace"
  bool starts_program = false;  // it is about executing the path
  bool writes = false;          // making or changing, not reading
  bool seen = false;            // by a trace, so that reading is known from making; else the program said so
  bool operator==(const Complaint&) const = default;
};

// Nothing when the line has no such shape. Lines are cut at 4000 bytes.
std::optional<Complaint> read_complaint(std::string_view line);

}  // namespace cordon::app
