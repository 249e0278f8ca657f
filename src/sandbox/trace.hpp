// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `run --trace` is told: init follows the server (stage/tracer.hpp) and says each thing once, as a line on a pipe
// of its own. The words are the server's, so that a line is read as strictly as anything that comes from it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::sandbox {

// Init remembers no more than this; what comes then is counted.
inline constexpr std::size_t kMaxTraceFindings = 8192;
inline constexpr std::size_t kMaxTracePath = 4096;
inline constexpr std::size_t kMaxTraceBytes = 1'000'000;

enum class TraceAccess : std::uint8_t {
  look,     // asked whether it is there and what it is
  read,     // opened for reading
  list,     // opened as a folder
  write,    // changed what is there
  change,   // made, moved or removed a name: asks for the folder
  execute,  // a program or script
  connect,  // of a socket, also by sending
  bind,     // of a socket
};
inline constexpr TraceAccess kLastTraceAccess = TraceAccess::bind;
std::string_view name(TraceAccess access);
std::optional<TraceAccess> trace_access_from(std::string_view name);

// One outcome that was seen.
struct TraceFinding {
  TraceAccess access = TraceAccess::look;
  int error_number = 0;   // 0: it was done
  std::string path = {};  // inside, absolute; of a socket "unix:/path", "unix:@name" or "address:port"
  bool operator==(const TraceFinding&) const = default;
};

struct TraceEnd {
  std::uint64_t calls = 0;    // that were looked at
  std::uint64_t dropped = 0;  // findings beyond the bounds above
  std::uint64_t unread = 0;   // calls whose arguments or outcome could not be read
  bool operator==(const TraceEnd&) const = default;
};

// A line without its end; bytes other than printable ASCII are written %XX.
std::string trace_line(const TraceFinding& finding);
std::string trace_line(const TraceEnd& end);

struct TraceLine {
  std::optional<TraceFinding> finding = {};
  std::optional<TraceEnd> end = {};
};
// Nothing when it is no such line, in the one spelling that trace_line gives.
std::optional<TraceLine> read_trace_line(std::string_view line);

// Without doubled slashes, "." and ".." (as texts: no symlink is looked at), and with `*` for numbers below /proc, so
// that each process does not make findings of its own.
std::string normal_trace_path(std::string_view absolute);

}  // namespace cordon::sandbox
