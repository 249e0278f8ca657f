// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is worth saying about an entry.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/entry.hpp"

namespace cordon::clients {

enum class FindingKind : std::uint8_t {
  unreadable,  // the file is not understood
  ambiguous,   // the entry cannot be read or edited with certainty
  secret_in_clear,
  dangerous_shape,
  foreign_wrapper,   // is called mcp-cordon, but is not this program
  policy_missing,    // wrapped, but its policy is not there
  policy_from_file,  // wrapped with --policy FILE, which a repository may supply
  other_command,     // wrapped, but its policy is for another command
  not_wrapped,
  unpinned_package,
  not_read,   // a file of a syntax that is not read
  same_name,  // another command under this name elsewhere
  remote,
};

struct FindingFacts {
  FindingKind kind = FindingKind::unreadable;
  std::string_view name = {};    // in reports
  std::string_view phrase = {};  // a sentence without its subject
  std::string_view level = {};   // of SARIF: error, warning, note
  std::string_view remedy = {};  // what to do; empty for a note
};
std::span<const FindingFacts> finding_table();
const FindingFacts& facts(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::unreadable;
  std::string detail = {};  // printable; never a secret's value
  bool operator==(const Finding&) const = default;
};

// A note alone is no reason for exit status 1.
bool counts(FindingKind kind);

// What can be told from the entry alone.
std::vector<Finding> findings(const Entry& entry);

}  // namespace cordon::clients
