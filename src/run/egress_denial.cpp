// SPDX-License-Identifier: Apache-2.0
// What is said of a connection that was denied, and what would allow it.
#include "base/text.hpp"
#include "run/egress_link.hpp"

namespace cordon::run {

EgressAttempt EgressLink::attempt() const {
  EgressAttempt out;
  out.number = number_;
  out.host = target_.host;
  out.port = port_;
  return out;
}

void EgressLink::deny(std::string_view why) {
  EgressAttempt denied = attempt();
  denied.why = why;
  deny(denied);
}

// The first words did not fit.
void EgressLink::deny_named() {
  EgressAttempt denied = attempt();
  denied.why = words_.why();
  denied.named = words_.named();
  const bool other_host = denied.why == "sni_mismatch" || denied.why == "host_mismatch";
  if (other_host && !words_.named().empty() && !words_.named().starts_with("metadata.")) {
    denied.policy_entry = text::cat('"', words_.named(), ':', port_, '"');
  }
  deny(denied);
}

// None of the addresses may be connected to; this one is the worst.
void EgressLink::deny_address(egress::Scope scope, const egress::IpAddress& address) {
  const std::string why = text::cat(egress::name(scope), "_address");
  EgressAttempt denied = attempt();
  denied.why = why;
  denied.address = address;
  if (egress::is_private_scope(scope)) {
    // A name below a wildcard gets an entry of its own, which comes before the wildcard.
    denied.listed = target_.rule->kind == egress::HostKind::name;
    std::string ports = std::to_string(port_);
    if (denied.listed) {
      ports.clear();
      for (const std::uint16_t port : target_.rule->ports) {
        ports += text::cat(ports.empty() ? "" : ", ", port);
      }
    }
    denied.policy_entry = text::cat("{host: ", target_.host, ", ports: [", ports, "], private: true}");
  }
  deny(denied);
}

void EgressLink::deny(const EgressAttempt& denied) {
  around_.log.attempt(EgressLog::Decision::denied, denied, monotonic_now());
  // Where it was dialled before its first words came, it has a record already, and gets one of its end.
  finish("denied", true);
}

}  // namespace cordon::run
