// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the server sees of the file system: a list of entries, the same for every backend that has a view of its own.
// Pure. What is not in the list does not exist inside.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "sandbox/host_facts.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/spec.hpp"

namespace cordon::sandbox {

inline constexpr std::string_view kHomeInside = "/home/cordon";
inline constexpr std::string_view kAccountInside = "cordon";
inline constexpr std::string_view kHostnameInside = "cordon";

// The fixed paths of the outside that the presets may show; probe_host looks what they are.
std::span<const std::string_view> system_path_list();

// Presets that this version knows.
bool is_known_preset(std::string_view preset);
// True when the server may make user namespaces: it says so, or its preset is `browser`.
bool allows_nested_userns(const LaunchSpec& spec);
// What the presets limit where the policy says nothing.
Limits preset_limits(const LaunchSpec& spec);
// True when the presets show the system's own programs and libraries.
bool shows_system(const LaunchSpec& spec);
// True when a program at this path belongs to the system paths.
bool is_system_program(std::string_view path);

// policy_invalid when a grant or a mask makes no sense (where: the path).
Result<std::vector<ViewEntry>> build_view(const LaunchSpec& spec, const HostFacts& facts);

// May be shown without a grant: neither holds several programs, nor is or holds the home, nor is the machine's own.
bool may_show_unasked(std::string_view path, std::string_view home);

// The source of the grant through which the server could write to this place of the outside; empty: none.
std::string writable_grant(const LaunchSpec& spec, std::string_view place);

// Entries of what the program needs and nothing else shows; policy_invalid when it may not be shown unasked, or when
// the server could change what it is or where it lies.
Result<std::vector<ViewEntry>> program_view(const LaunchSpec& spec, const HostFacts& facts);

// Read-only covers for what steers other programs below the write grants, sorted.
std::vector<ViewEntry> steering_view(const LaunchSpec& spec, const HostFacts& facts);

// Takes the symlinks out that a backend cannot mount on.
void leave_links(std::vector<ViewEntry>& view);
// Are there any, so that the gaps that they would leave are none?
bool holds_links(std::span<const ViewEntry> view);

// Presets and grants, judged without building anything: policy_invalid when one makes no sense.
Status check_grants(const LaunchSpec& spec, const HostFacts& facts);

// What a backend without a view of its own shows: everything at its own path. unsupported_isolation when the spec asks
// for another place or for a mask.
Result<std::vector<ViewEntry>> host_view(const LaunchSpec& spec, const HostFacts& facts, std::string_view backend);

// The devices that a server may use.
std::span<const std::string_view> device_list();

// Entries of the presets: folders, devices, procfs and its covers, system paths, /etc.
std::vector<ViewEntry> base_view(const LaunchSpec& spec, const HostFacts& facts);

}  // namespace cordon::sandbox
