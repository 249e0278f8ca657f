// SPDX-License-Identifier: Apache-2.0
// Whether a socket of the outside can be reached. A read-only mount does not stop connect(); Landlock does from ABI 9
// on, for sockets that were made outside of the sandbox. Below that only the syscall filter is left: it cannot tell
// where a socket leads, so it refuses to make any, as soon as a folder is shown in which somebody could have put one.
#include <algorithm>

#include "base/text.hpp"
#include "sandbox/paths.hpp"
#include "sandbox/plan_common.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr int kLandlockResolvesUnix = 9;

// A folder of the outside. Those of the system belong to root and hold no sockets; the kept home holds the server's
// own.
bool could_hold_socket(const ViewEntry& entry, const HostFacts& facts) {
  const auto system = system_path_list();
  if (entry.kind != EntryKind::bind || entry.socket || entry.steering || entry.target == kHomeInside ||
      (!entry.grant && std::ranges::find(system, entry.source) != system.end())) {
    return false;
  }
  const bool known_file =
      entry.source == facts.program.path || std::ranges::any_of(facts.sources, [&](const SourceFacts& source) {
        return source.path == entry.source && source.kind == PathKind::file;
      });
  return !known_file;
}

bool shows_folder(const HostFacts& facts, std::span<const ViewEntry> view) {
  return std::ranges::any_of(view, [&](const ViewEntry& entry) { return could_hold_socket(entry, facts); });
}

bool filters(const LaunchSpec& spec, const HostFacts& facts) {
  return spec.syscall_filter && facts.seccomp && !facts.architecture.empty();
}

}  // namespace

UnixSockets allowed_unix_sockets(const LaunchSpec& spec, const HostFacts& facts, std::span<const ViewEntry> view) {
  if (!spec.unix_sockets.empty() || facts.landlock_abi >= kLandlockResolvesUnix || !shows_folder(facts, view)) {
    return UnixSockets::allowed;
  }
  // A browser listens at a socket in its profile, and who drives it connects to one of its own.
  return allows_nested_userns(spec) ? UnixSockets::supervised : UnixSockets::refused;
}

Guarantee unix_socket_guarantee(const LaunchSpec& spec, const HostFacts& facts, std::span<const ViewEntry> view) {
  Guarantee out{.name = "ipc.unix_sockets", .strength = Strength::enforced};
  if (!shows_folder(facts, view)) {
    out.reason = "no folder is shown that could hold one";
  } else if (facts.landlock_abi >= kLandlockResolvesUnix) {
    out.reason = text::cat("Landlock ABI ", facts.landlock_abi);
  } else if (spec.unix_sockets.empty() && filters(spec, facts)) {
    out.reason = allows_nested_userns(spec) ? "seccomp, init connects, to the server's own only; no datagrams"
                                            : "seccomp, no Unix sockets but connected pairs of streams";
  } else {
    out.strength = Strength::partial;
    out.reason = text::cat("landlock_abi", facts.landlock_abi);
    out.hint =
        "grant files instead of folders, write unix_sockets: none with syscalls: default, or take ipc out of "
        "isolation.require: then every socket in a granted folder can be reached";
  }
  return out;
}

}  // namespace cordon::sandbox
