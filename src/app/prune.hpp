// SPDX-License-Identifier: Apache-2.0
#pragma once
// prune: removes installed packages that no record of a policy names any more, neither the present nor the one that
// rollback goes back to. What cannot be known counts as used.

#include <cstdint>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"

namespace cordon::app {

struct StoredPackage {
  std::string folder = {};
  std::string package = {};  // "npm:pkg@1.2.3"; the folder's name when nothing says it
  std::uint64_t bytes = 0;
  std::size_t files = 0;
  bool removable = false;
  std::string why = {};  // printable: who uses it, or why nobody does
};

// All of them, those that can go first. file_unreadable, file_untrusted.
Result<std::vector<StoredPackage>> stored_packages(const Caller& caller);

struct Pruned {
  std::size_t packages = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> kept = {};  // printable: used in the meantime, or not removable
};
// Removes those of the list that still can go when their turn comes. Cut off, what is left is removed by the next one,
// or by the next installation.
Result<Pruned> prune_packages(const Caller& caller, const std::vector<StoredPackage>& packages);

}  // namespace cordon::app
