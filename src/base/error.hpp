// SPDX-License-Identifier: Apache-2.0
#pragma once
// base: what every other folder may use. No MCP, no third party but nettle (hash.cpp) and RE2 (regex.cpp).
// Start reading here: errors are values, and this file holds the one vocabulary of failures (docs/errors.md).

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace cordon {

// One name per failure, used in code, JSON-RPC error.data.type, audit `reason`, vectors, exit status and docs.
// The numeric value is the process exit status and, save for the three methods of json_rpc_code(), the JSON-RPC code.
enum class Errc : std::uint8_t {
  unsupported_isolation = 64,
  isolation_conflict,
  instance_conflict,
  launch_failed,
  launch_changed,
  server_exited,
  policy_invalid,
  snapshot_missing,
  snapshot_invalid,
  snapshot_unattended,
  tool_not_reviewed,
  tool_changed,
  tool_blocked,
  argument_denied,
  confirmation_declined,
  confirmation_unavailable,
  rate_limited,
  client_request_blocked,
  method_not_allowed,
  message_too_large,
  message_malformed,
  message_ambiguous,
  reply_unexpected,
  result_too_large,
  audit_unavailable,
  egress_denied,
  timed_out,
  file_untrusted,   // a file that steers us has the wrong owner, mode, type or a symlink in place of it
  file_unreadable,  // a named file is missing or cannot be read or written
  catalog_invalid,  // a live or given catalog that cannot be read as one
  internal,
};

inline constexpr Errc kFirstErrc = Errc::unsupported_isolation;
inline constexpr Errc kLastErrc = Errc::internal;

// The public name, for example "unsupported_isolation".
std::string_view name(Errc code);
std::optional<Errc> errc_from_name(std::string_view name);

// Exit status of the process, 64 and up.
int exit_status(Errc code);

// JSON-RPC error code: -32601 for method_not_allowed, -32602 for tool_not_reviewed, -32603 for internal, else the
// exit status, which lies outside the range that JSON-RPC reserves.
int json_rpc_code(Errc code);

// A failure that a peer, a file or the kernel can cause. `where` is a place (policy.yaml:12:5, a path, a step),
// `detail` what failed, `remedy` what a person can do; the latter never goes into protocol messages.
struct Error {
  Errc code = Errc::internal;
  std::string detail = {};
  std::string where = {};
  std::string remedy = {};

  // "where: detail (remedy)" for a person; parts that are empty are left out. Already printable only if its parts are.
  std::string to_string() const;
  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

inline std::unexpected<Error> fail(Errc code, std::string detail, std::string where = {}, std::string remedy = {}) {
  return std::unexpected(Error{code, std::move(detail), std::move(where), std::move(remedy)});
}

// Reads errno now: "open: No such file or directory (errno 2)".
std::string errno_text(std::string_view what, int error_number);

// Always on. For what only a bug in this program can cause: a gate that is confused must die.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace cordon

#define CORDON_ASSERT(expression) \
  (static_cast<bool>(expression) ? void(0) : ::cordon::assertion_failed(#expression, __FILE__, __LINE__))
