// SPDX-License-Identifier: Apache-2.0
#include "run/egress_log.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::run {
namespace {

std::string_view name(EgressLog::Decision decision) {
  switch (decision) {
    case EgressLog::Decision::allowed:
      return "allowed";
    case EgressLog::Decision::flagged:
      return "flagged";
    case EgressLog::Decision::denied:
      return "denied";
  }
  return "";
}

std::string what_of(const EgressAttempt& attempt) {
  std::string out = attempt.host;
  if (attempt.port != 0) {
    out += text::cat(':', attempt.port);
  }
  if (attempt.address && egress::to_string(*attempt.address) != attempt.host) {
    out += text::cat(" (", egress::to_string(*attempt.address), ')');
  }
  return out;
}

}  // namespace

bool EgressLog::attempt(Decision decision, const EgressAttempt& attempt, Instant now) {
  if (broken_) {
    return false;
  }
  const std::string key = text::cat(attempt.host, ':', attempt.port, ' ', name(decision), ' ', attempt.why);
  const bool first = seen_.size() < kMaxFirstUses && seen_.insert(key).second;
  // Somebody who connects and goes, to see whether a port is open, has been denied nothing.
  if (decision != Decision::allowed && first && attempt.why != "closed_early") {
    hint(decision, attempt);
  }
  if (!first && !limit_.admit(0, now)) {
    return true;
  }
  json::Writer out;
  out.begin_object().member("event", "egress").member("decision", name(decision));
  if (decision == Decision::denied) {
    out.member("reason", cordon::name(Errc::egress_denied));
  }
  if (!attempt.why.empty()) {
    out.member("why", attempt.why);
  }
  out.member("host", attempt.host);
  if (attempt.port != 0) {
    out.member_int("port", attempt.port);
  }
  if (attempt.address) {
    out.member("address", egress::to_string(*attempt.address));
  }
  if (!attempt.named.empty()) {
    out.member("named", attempt.named);
  }
  if (attempt.number != 0) {
    out.member_int("connection", static_cast<std::int64_t>(attempt.number));
  }
  out.end_object();
  return write(out.take());
}

bool EgressLog::ended(const EgressEnd& end, Instant now) {
  if (broken_) {
    return false;
  }
  if (!limit_.admit(end.bytes_up + end.bytes_down, now)) {
    return true;
  }
  json::Writer out;
  out.begin_object().member("event", "egress_end").member("host", end.host).member_int("port", end.port);
  out.member_int("connection", static_cast<std::int64_t>(end.number)).member("how", end.how);
  if (end.address) {
    out.member("address", egress::to_string(*end.address));
  }
  out.member_int("bytes_up", static_cast<std::int64_t>(end.bytes_up));
  out.member_int("bytes_down", static_cast<std::int64_t>(end.bytes_down));
  out.member_int("ms", end.ms).end_object();
  return write(out.take());
}

bool EgressLog::flush() {
  if (broken_ || !limit_.has_dropped()) {
    return !broken_;
  }
  const RateLimit::Dropped dropped = limit_.take_dropped();
  json::Writer out;
  out.begin_object().member("event", "suppressed").member("of", "egress");
  out.member_int("records", static_cast<std::int64_t>(dropped.items));
  out.member_int("bytes", static_cast<std::int64_t>(dropped.bytes)).end_object();
  return write(out.take());
}

bool EgressLog::write(std::string_view body) {
  broken_ = broken_ || !output_.record(body);
  return !broken_;
}

void EgressLog::hint(Decision decision, const EgressAttempt& attempt) {
  if (hinted_.size() >= kMaxHints || !hinted_.insert(text::cat(attempt.host, ' ', attempt.why)).second) {
    return;
  }
  std::string line = text::cat(decision == Decision::denied ? "egress_denied: " : "egress, flagged: ", what_of(attempt),
                               ": ", attempt.why);
  if (!attempt.named.empty()) {
    line += text::cat(" (", attempt.named, ')');
  }
  if (!attempt.policy_entry.empty() && attempt.listed) {
    line +=
        text::cat("; it is listed, but not with `private: true`; to allow addresses of that kind, write its entry of ",
                  "isolation.network.allow in ", policy_file_, " as ", attempt.policy_entry);
  } else if (!attempt.policy_entry.empty()) {
    line += text::cat("; to allow it, add to isolation.network.allow in ", policy_file_, ": ", attempt.policy_entry);
  }
  if (attempt.why == "not_by_proxy") {
    line += "; with isolation.network.mode: proxy programs have to ask the proxy that HTTPS_PROXY names";
  } else if (attempt.why == "not_connect") {
    line += "; this proxy takes CONNECT and SOCKS5, and passes on no plain HTTP: use https, or mode: transparent";
  } else if (attempt.why == "not_resolved") {
    line += "; this machine finds no address for that name";
  } else if (attempt.why == "reserved_address") {
    line += "; the name leads to an address that is never reached";
  }
  if (decision == Decision::denied && attempt.why == "ech") {
    line += "; browsers send that in every hello: isolation.network.sni: flag lets it through, marked";
  }
  output_.notice(line);
}

}  // namespace cordon::run
