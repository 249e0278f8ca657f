// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the host facts by trying things in forked children, never by believing a sysctl.

#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

enum class ProbeDepth : std::uint8_t {
  needed,      // tries bubblewrap only when the spec names it or when our own namespaces do not work
  everything,  // for doctor
};

// Facts for this spec. Fails only when the machine cannot even fork or when `home` is not a path; what does not work is
// a fact. `home`: the caller's home folder, may be empty.
Result<HostFacts> probe_host(const LaunchSpec& spec, const std::string& home, ProbeDepth depth = ProbeDepth::needed);

// Resolves a command word as the caller's shell would: a name through `path` (the value of PATH), a relative path
// against `cwd`. The result is absolute and has no symlink in it; launch_failed says where was looked.
// Shims of version managers are replaced by what they would choose (behind_shim).
Result<std::string> resolve_executable(const std::string& word, const std::string& path, const std::string& cwd);

// The program that a version manager's shim (pyenv, nodenv, rbenv, asdf, mise, volta) would start, by the manager's own
// files; `path` itself when it is none. launch_failed when only the manager could tell.
Result<std::string> behind_shim(const std::string& path);

// The program that the first line of a script names by way of env(1), looked up in `path`; empty when the file is no
// such script, or there is none.
std::string env_interpreter(const std::string& script, const std::string& path);

}  // namespace cordon::sandbox
