// SPDX-License-Identifier: Apache-2.0
// The sections about the conversation as a whole: messages, client_requests, audit.

#include "formats/policy/sections.hpp"

namespace cordon::formats {

policy::Messages read_messages(Faults& faults, const yaml::Node& node) {
  policy::Messages messages;
  const Section section(faults, node, "messages", {"max_bytes", "max_depth", "in_flight", "answer_timeout_seconds"});
  // Clients close the connection at 10 MiB of unread line; 10 MB stays below. Under 1 KB no handshake fits.
  section.size("max_bytes", messages.max_bytes, {1'000, 10'000'000});
  section.integer("max_depth", messages.max_depth, {16, 512});
  section.integer("in_flight", messages.in_flight, {1, 10'000});
  read_answer_timeout(faults, section, messages);
  return messages;
}

void read_client_requests(Faults& faults, const yaml::Node& node) {
  const Section section(faults, node, "client_requests", {"sampling", "elicitation", "roots"});
  section.fixed("sampling", "block", {"allow", "flag"});
  section.fixed("elicitation", "block", {"allow", "flag"});
  section.fixed("roots", "block", {"allow", "flag", "policy"});
}

policy::AuditArguments read_audit(Faults& faults, const yaml::Node& node) {
  using policy::AuditArguments;
  AuditArguments arguments = AuditArguments::digest;
  const Section section(faults, node, "audit", {"arguments"});
  section.choice<AuditArguments>(
      "arguments", arguments,
      {{"digest", AuditArguments::digest}, {"full", AuditArguments::full}, {"none", AuditArguments::none}});
  return arguments;
}

}  // namespace cordon::formats
