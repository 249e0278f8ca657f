// SPDX-License-Identifier: Apache-2.0
#pragma once
// From launch.source to what is started: the record of the installation, the program in the store, its interpreter.

#include <optional>
#include <string>
#include <vector>

#include "app/caller.hpp"
#include "app/package_store.hpp"
#include "base/error.hpp"
#include "core/catalog/catalog.hpp"
#include "core/policy/policy.hpp"
#include "formats/package_record.hpp"

namespace cordon::app {

// "mcp-cordon install NAME" for this policy; `spelled`: NAME, or "--policy FILE".
std::string install_command(std::string_view spelled);

// "the package X is not installed", or of an image, which an engine fetches.
std::string not_installed(const policy::Source& source);

// Is this the record of that source? policy_invalid when the source names no exact version and does not allow that;
// launch_failed when the record is of something else. `where`: of the source in the policy.
Status check_record(const policy::Source& source, const formats::PackageRecord& record, const std::string& where,
                    const std::string& install);

// What runs a script, by its first line, and the script itself.
struct PackageProgram {
  std::vector<std::string> argv = {};     // complete: [node, …/dist/index.js, ARGUMENT, …], [python3, -I, …]
  std::string executable = {};            // real path of argv[0]
  std::string tree = {};                  // that has to be shown; empty: none
  std::vector<std::string> folders = {};  // for PATH, before the others
  bool operator==(const PackageProgram&) const = default;
};

// launch_failed when the package has no such program, or its interpreter is not there.
Result<PackageProgram> package_program(const Caller& caller, const formats::PackageRecord& record,
                                       const std::vector<std::string>& command);

// The same for a package of PyPI, whose programs are functions of its modules.
Result<PackageProgram> python_program(const Caller& caller, const formats::PackageRecord& record,
                                      const std::vector<std::string>& command);

catalog::PackagePin package_pin(const formats::PackageRecord& record);

}  // namespace cordon::app
