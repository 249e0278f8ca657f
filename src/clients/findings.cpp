// SPDX-License-Identifier: Apache-2.0
#include "clients/findings.hpp"

#include <array>

#include "base/text.hpp"
#include "clients/command_shape.hpp"
#include "clients/package_spec.hpp"
#include "clients/secrets.hpp"

namespace cordon::clients {
namespace {

using enum FindingKind;

// In the order of the enumeration.
constexpr auto kTable = std::to_array<FindingFacts>({
    {unreadable, "unreadable", "cannot be read", "error", "correct the file, or make it readable for this user"},
    {ambiguous, "ambiguous", "cannot be understood with certainty, and is left alone", "error",
     "write the entry once and plainly, and ask again"},
    {secret_in_clear, "secret_in_clear", "holds a secret in clear", "error",
     "keep it in a file that you alone can read, take it out of the config, and name that file in the policy: "
     "launch.environment.secrets: {NAME: {from_file: FILE}}"},
    {dangerous_shape, "dangerous_shape", "starts its server in a dangerous way", "error",
     "name the server's own program and its arguments in the place of that"},
    {foreign_wrapper, "foreign_wrapper", "names a program called mcp-cordon that is not this one", "error",
     "mcp-cordon unwrap takes that one out, mcp-cordon wrap puts this one in"},
    {policy_missing, "policy_missing", "names a policy that cannot be used", "error",
     "mcp-cordon check NAME says why; where there is none, unwrap and wrap make one"},
    {policy_from_file, "policy_from_file", "names its policy by a file", "warning",
     "read that policy before the client starts the server; whoever may write the config has chosen it"},
    {other_command, "other_command", "is wrapped by a policy for another command", "error",
     "make both the same, the command in the config and launch in the policy (after an update: its version)"},
    {not_wrapped, "not_wrapped", "is started without mcp-cordon", "warning",
     "mcp-cordon wrap shows what it would change, and asks"},
    {unpinned_package, "unpinned_package", "fetches whatever version of a package there is", "warning",
     "wrap it, which pins what is there at the first review, or write the exact version or digest"},
    {not_read, "not_read", "is kept in a form that is not read", "note", {}},
    {same_name, "same_name", "has the name of another server in another config", "note", {}},
    {remote, "remote", "is a remote server, which mcp-cordon does not stand before", "note", {}},
});

}  // namespace

std::span<const FindingFacts> finding_table() { return kTable; }

const FindingFacts& facts(FindingKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  CORDON_ASSERT(index < kTable.size() && kTable[index].kind == kind);
  return kTable[index];
}

bool counts(FindingKind kind) { return facts(kind).level != "note"; }

std::vector<Finding> findings(const Entry& entry) {
  std::vector<Finding> out;
  if (!entry.fault.empty()) {
    out.push_back({ambiguous, entry.fault});
  }
  if (entry.transport == Transport::remote) {
    out.push_back({remote, {}});
  }
  if (entry.transport == Transport::stdio && !entry.wrapping) {
    out.push_back({not_wrapped, {}});
  }
  if (entry.wrapping && entry.wrapping->by_file) {
    out.push_back({policy_from_file, text::printable(entry.wrapping->policy, 500)});
  }
  for (const Secret& secret : secrets_in(entry)) {
    out.push_back({secret_in_clear, secret.where});
  }
  const std::vector<std::string> command = real_command(entry);
  for (const Danger danger : dangers(command)) {
    out.push_back({dangerous_shape, std::string(phrase(danger))});
  }
  if (entry.transport == Transport::stdio) {
    for (const std::string& name : steering_variables(entry)) {
      out.push_back(
          {dangerous_shape, text::cat("sets ", text::printable(name, 100), ", which steers mcp-cordon itself")});
    }
  }
  if (const auto package = detect(command); package && !package->pinned) {
    out.push_back({unpinned_package, text::cat(package->runner, ' ', text::printable(package->written, 300))});
  }
  return out;
}

}  // namespace cordon::clients
