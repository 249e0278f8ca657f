// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tool of one ecosystem does for an installation. Everything else is the same for all of them
// (install_package.cpp): one at a time, in a folder beside the store, sealed, digested, published as a whole.

#include <memory>
#include <optional>
#include <string>

#include "app/caller.hpp"
#include "app/install.hpp"
#include "app/package_tool.hpp"
#include "app/session_context.hpp"
#include "base/error.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

// The staging folder as the tool sees it, and the tree in it.
inline constexpr std::string_view kInsideFolder = "/home/cordon";
inline constexpr std::string_view kInsideTree = "/home/cordon/tree";

class PackageFetch {
 public:
  virtual ~PackageFetch() = default;

  // Fills FOLDER/tree, which is there and empty, and tells version, lock file, platform and number of packages.
  // `recorded`: exactly that is to be fetched.
  virtual Status fetch(const std::string& folder, const std::optional<formats::PackageRecord>& recorded,
                       Installed& out) = 0;

  // What differs from one installation of the same files to the next is taken out of the tree, which is sealed before
  // and after: nothing in it leads elsewhere.
  virtual Status tidy(const std::string& tree) = 0;
};

std::unique_ptr<PackageFetch> npm_fetch(const Caller& caller, const policy::Source& source,
                                        const InstallProgress& progress);

std::unique_ptr<PackageFetch> pypi_fetch(const Caller& caller, const policy::Source& source,
                                         const InstallProgress& progress);

// The packages of a source whose scripts run, as the record names them.
std::vector<std::string> scripts_of(const policy::Source& source);

// "linux-x86_64"
std::string platform_name();

// The tools may take it for a fault of the network.
bool disk_is_full(const std::string& folder);
std::unexpected<Error> full_disk(const std::string& folder);

}  // namespace cordon::app
