// SPDX-License-Identifier: Apache-2.0
// The sections about the conversation as a whole: messages, client_requests, audit.

#include "base/text.hpp"
#include "egress/name.hpp"
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

namespace {

void read_elicitation_hosts(Faults& faults, const yaml::Node& node, std::vector<std::string>& hosts) {
  constexpr std::string_view kKey = "client_requests.elicitation_hosts";
  const auto* items = read_list(faults, node, kKey, ListEmptiness::allowed);
  if (items == nullptr) {
    return;
  }
  for (const yaml::Node& item : *items) {
    if (auto host = read_host(faults, item, kKey, Wildcards::of_owners)) {
      hosts.push_back(std::move(*host));
    }
  }
}

}  // namespace

// Names and *.SUFFIX, as in isolation.network, but without a port: what a person's browser is sent to.
std::optional<std::string> read_host(Faults& faults, const yaml::Node& item, std::string_view key,
                                     Wildcards wildcards) {
  const auto written = read_text(faults, item, text::cat("an item of ", key));
  if (!written) {
    return std::nullopt;
  }
  const bool wildcard = written->starts_with("*.");
  const Result<std::string> host = egress::canonical_policy_host(wildcard ? written->substr(2) : *written);
  if (!host) {
    faults.add(item.position, text::cat(quote(*written), ": ", host.error().detail),
               "write a name such as login.example.com, without scheme and port");
    return std::nullopt;
  }
  if (wildcard && wildcards == Wildcards::of_owners && egress::is_public_suffix(*host)) {
    faults.add(item.position, text::cat(quote(*written), ": anybody can have a name below ", *host),
               "name the hosts, or a wildcard below a name that has one owner");
    return std::nullopt;
  }
  return wildcard ? text::cat("*.", *host) : *host;
}

policy::ClientRequests read_client_requests(Faults& faults, const yaml::Node& node) {
  using policy::Action;
  using Roots = policy::ClientRequests::Roots;
  policy::ClientRequests requests;
  const Section section(faults, node, "client_requests", {"sampling", "elicitation", "elicitation_hosts", "roots"});
  const auto action = [&](std::string_view key, Action& out) {
    section.choice<Action>(key, out, {{"allow", Action::allow}, {"flag", Action::flag}, {"block", Action::block}});
  };
  action("sampling", requests.sampling);
  action("elicitation", requests.elicitation);
  if (const yaml::Member* hosts = section.find("elicitation_hosts")) {
    read_elicitation_hosts(faults, hosts->value, requests.elicitation_hosts);
  }
  section.choice<Roots>(
      "roots", requests.roots,
      {{"policy", Roots::policy}, {"allow", Roots::allow}, {"flag", Roots::flag}, {"block", Roots::block}});
  return requests;
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
