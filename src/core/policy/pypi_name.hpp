// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of Python packages as pip and uv read them: "mcp-server-git", "mcp[cli]", each with "==1.2" or ">=1,<2".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/source.hpp"

namespace cordon::policy {

// The package keeps its extras, "mcp[cli]"; the version is what stands behind "==" where that names a single one, and
// else the comparisons as they are. Nothing for URLs, folders, markers and blanks.
std::optional<PackageName> read_pypi_name(std::string_view text);

// "1.2", "2025.4.7", "1!2.0rc1.post1.dev2+local": one version and no pattern.
bool is_exact_pypi_version(std::string_view text);

// The name alone, as all its spellings are compared: "MCP.Server_git[cli]" is "mcp-server-git".
std::string distribution_name(std::string_view package);

// Do both name the same package with the same extras?
bool is_same_pypi_package(std::string_view one, std::string_view other);

}  // namespace cordon::policy
