// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which package a command line would fetch and run: npx, npm exec, pnpm dlx, yarn dlx, bunx, deno run npm:, uvx,
// uv tool run, uv run --with, pipx run, docker run and podman run. Nothing is asked of anybody: words in, values out.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::clients {

enum class PackageKind : std::uint8_t { npm, pypi, oci };
std::string_view name(PackageKind kind);

struct PackageSpec {
  PackageKind kind = PackageKind::npm;
  std::string runner = {};   // "npx", "npm exec", "uvx", "uv run", "docker run", …: as documentation calls it
  std::string written = {};  // the specification as it stands in the command: "@scope/name@^1", "git+https://…"
  bool registry = true;      // false: a URL, a git repository or a file; `name` and `version` are then empty
  std::string name = {};     // "@scope/name", "mcp-server-git" (without extras), "ghcr.io/owner/image"
  std::string extras = {};   // pypi: "[cli]", with its brackets
  // As written, without the separator for npm, pypi's `name@VERSION` and OCI tags: "1.2.3", "latest", "^1"; with it for
  // pypi's comparisons: "==1.2.3", ">=1,<2"; OCI digests: "sha256:…". Empty when there is none.
  std::string version = {};
  std::string tag = {};                     // oci: the tag beside a digest
  std::string bin = {};                     // the program inside the package, when the command tells it
  std::vector<std::string> arguments = {};  // what that program is given
  std::vector<std::string> options = {};    // of the runner, as written
  std::vector<std::string> more = {};       // further packages beside the one that holds the program, as written
  // Names one content for good: an exact version of npm or PyPI, an OCI digest. `more` must be pinned too.
  bool pinned = false;
  bool operator==(const PackageSpec&) const = default;
};

// Nothing when the command names no package that would be fetched (a program, a script, a local folder), or when it
// cannot be told for sure which word is the package. Looks through `cmd /c`, `env NAME=VALUE`, and `sh -c` of plain
// words (see command_shape.hpp).
std::optional<PackageSpec> detect(std::span<const std::string> command);

}  // namespace cordon::clients
