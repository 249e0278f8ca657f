// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace cordon {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(kLastErrc) - static_cast<std::size_t>(kFirstErrc) + 1>
    kNames = {
        "unsupported_isolation",
        "isolation_conflict",
        "instance_conflict",
        "launch_failed",
        "launch_changed",
        "server_exited",
        "policy_invalid",
        "snapshot_missing",
        "snapshot_invalid",
        "snapshot_unattended",
        "tool_not_reviewed",
        "tool_changed",
        "tool_blocked",
        "argument_denied",
        "confirmation_declined",
        "confirmation_unavailable",
        "rate_limited",
        "client_request_blocked",
        "method_not_allowed",
        "message_too_large",
        "message_malformed",
        "message_ambiguous",
        "reply_unexpected",
        "result_too_large",
        "audit_unavailable",
        "egress_denied",
        "timed_out",
        "file_untrusted",
        "file_unreadable",
        "catalog_invalid",
        "internal",
};

std::size_t index_of(Errc code) { return static_cast<std::size_t>(code) - static_cast<std::size_t>(kFirstErrc); }

}  // namespace

std::string_view name(Errc code) { return kNames.at(index_of(code)); }

std::optional<Errc> errc_from_name(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) {
      return static_cast<Errc>(i + static_cast<std::size_t>(kFirstErrc));
    }
  }
  return std::nullopt;
}

int exit_status(Errc code) { return static_cast<int>(code); }

int json_rpc_code(Errc code) {
  if (code == Errc::method_not_allowed) {
    return -32601;
  }
  if (code == Errc::tool_not_reviewed) {
    return -32602;
  }
  if (code == Errc::internal) {
    return -32603;
  }
  return exit_status(code);
}

std::string Error::to_string() const {
  std::string out;
  if (!where.empty()) {
    out += where;
    out += ": ";
  }
  out += detail.empty() ? std::string(name(code)) : detail;
  if (!remedy.empty()) {
    out += text::cat(" (", remedy, ")");
  }
  return out;
}

std::string errno_text(std::string_view what, int error_number) {
  // strerrordesc_np is thread-safe and locale-free (glibc 2.32), unlike strerror.
  const char* words = ::strerrordesc_np(error_number);
  return text::cat(what, ": ", words != nullptr ? words : "unknown error", " (errno ", error_number, ")");
}

void assertion_failed(const char* expression, const char* file, int line) {
  const std::string message = text::cat("mcp-cordon: assertion failed: ", expression, " at ", file, ":", line, "\n");
  // The process is about to die; a short write changes nothing.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  std::abort();
}

}  // namespace cordon
