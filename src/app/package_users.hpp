// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who uses an installed package: a file in its place in the store names the records that it was installed for or
// started by, and whoever is at work with it holds a lock. `prune` goes by both.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/caller.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

struct PackageUser {
  std::string record = {};   // path of a record that names the package, or did so
  std::string policy = {};   // path of the policy that it belongs to
  std::string package = {};  // "npm:pkg@1.2.3", for people
  bool operator==(const PackageUser&) const = default;
};

// What the file says. Nothing: there is none, so that nobody knows. An error: it cannot be read or understood.
Result<std::optional<std::vector<PackageUser>>> package_users(const std::string& folder);

// Adds one, unless it is there. Not for images, which are kept by their engine.
Status add_package_user(const Caller& caller, const formats::PackageRecord& record, std::string record_path,
                        std::string policy_path);

// While it lives, `prune` leaves the package alone. Nothing for an image, or when the package is not there;
// launch_failed while it is being removed.
Result<UniqueFd> hold_package(const Caller& caller, const formats::PackageRecord& record);

// The other side: nothing when somebody holds it.
std::optional<UniqueFd> hold_alone(const std::string& folder);

}  // namespace cordon::app
