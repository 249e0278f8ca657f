// SPDX-License-Identifier: Apache-2.0
#include "app/launch_record.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "app/facts.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "core/json/write.hpp"

namespace cordon::app {
namespace {

constexpr std::string_view kMasked = "[masked]";

bool names_a_secret(std::string_view option) {
  constexpr std::array<std::string_view, 8> kWords = {"token",  "secret",     "password", "passwd",
                                                      "apikey", "credential", "auth",     "privatekey"};
  std::string folded = text::lower_ascii(option);
  std::erase_if(folded, [](char c) { return c == '-' || c == '_'; });
  return std::ranges::any_of(kWords, [&](std::string_view word) { return folded.find(word) != std::string::npos; });
}

// scheme://user:password@host → scheme://user:[masked]@host
std::string without_password(std::string argument) {
  const std::size_t scheme = argument.find("://");
  if (scheme == std::string::npos) {
    return argument;
  }
  const std::size_t authority = scheme + 3;
  const std::size_t end = std::min(argument.find_first_of("/?#", authority), argument.size());
  const std::size_t at = argument.rfind('@', end);
  const std::size_t colon = argument.find(':', authority);
  if (at == std::string::npos || at < authority || colon == std::string::npos || colon > at) {
    return argument;
  }
  return argument.replace(colon + 1, at - colon - 1, kMasked);
}

void add_strings(json::Writer& out, std::string_view name, const std::vector<std::string>& values) {
  out.key(name).begin_array();
  for (const std::string& value : values) {
    out.string(value);
  }
  out.end_array();
}

// What the policy shows of the outside: path outside → read or write.
void add_grants(json::Writer& out, const sandbox::Plan& plan) {
  std::map<std::string, std::string_view> grants;
  for (const sandbox::ViewEntry& entry : plan.view) {
    if (entry.grant && !entry.source.empty()) {
      std::string_view& how = grants[entry.source];
      how = entry.writable || how == "write" ? "write" : "read";
    }
  }
  out.key("grants").begin_object();
  for (const auto& [path, how] : grants) {
    out.member(path, how);
  }
  out.end_object();
}

// Each pair of a host and a port, as the use of one is recorded.
void add_hosts(json::Writer& out, const sandbox::Plan& plan) {
  std::vector<std::string> hosts;
  for (const egress::Rule& rule : plan.network.rules.allow) {
    for (const std::uint16_t port : rule.ports) {
      hosts.push_back(text::cat(rule.kind == egress::HostKind::wildcard ? "*." : "", rule.host, ':', port));
    }
  }
  std::ranges::sort(hosts);
  add_strings(out, "hosts", hosts);
}

void add_ceilings(json::Writer& out, const std::vector<LoadedCeiling>& ceilings) {
  std::map<std::string, std::string> digests;  // one that is named twice counts once
  for (const LoadedCeiling& ceiling : ceilings) {
    digests.emplace(ceiling.ceiling.file, ceiling.digest);
  }
  out.key("ceilings").begin_object();
  for (const auto& [path, digest] : digests) {
    out.member(path, digest);
  }
  out.end_object();
}

std::string command_digest(const std::vector<std::string>& command) {
  json::Writer out;
  out.begin_array();
  for (const std::string& word : command) {
    out.string(word);
  }
  out.end_array();
  return sha256_text(out.take());
}

}  // namespace

std::vector<std::string> masked_argv(const std::vector<std::string>& argv) {
  std::vector<std::string> out;
  bool next_is_secret = false;
  for (const std::string& argument : argv) {
    if (next_is_secret && !argument.starts_with('-')) {
      out.emplace_back(kMasked);
      next_is_secret = false;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const bool secret = !out.empty() && names_a_secret(std::string_view(argument).substr(0, equals));
    next_is_secret = secret && argument.starts_with('-') && equals == std::string::npos;
    out.push_back(secret && equals != std::string::npos ? text::cat(argument.substr(0, equals + 1), kMasked)
                                                        : without_password(argument));
  }
  return out;
}

std::string launch_record(const LaunchRecordInput& input) {
  const sandbox::Plan& plan = input.planned.plan;
  const catalog::LaunchFingerprint& print = input.planned.prepared.fingerprint;
  json::Writer out;
  out.begin_object().member("event", "launch").member("purpose", input.purpose);
  add_strings(out, "argv", masked_argv(plan.argv));
  out.member("command_digest", command_digest(print.command)).member("executable_digest", print.executable);
  out.member("policy", input.loaded.location.path).member("policy_digest", input.loaded.digest);
  if (input.snapshot.snapshot) {
    out.member("snapshot", input.snapshot.location.path).member("snapshot_digest", input.snapshot.digest);
    out.member("catalog_digest", input.snapshot.snapshot->digest);
    out.member_bool("unattended", input.snapshot.snapshot->unattended);
  }
  out.member("plan_digest", sandbox::digest(plan));
  out.member("facts_digest", facts_digest(input.loaded.policy.launch, plan)).member("backend", plan.backend);
  out.key("guarantees");
  sandbox::write_guarantees(out, plan.guarantees);
  add_grants(out, plan);
  add_hosts(out, plan);
  add_ceilings(out, input.loaded.ceilings);
  add_strings(out, "environment_names", input.planned.prepared.environment_names);
  if (!input.launch_differences.empty()) {
    add_strings(out, "launch_differences", input.launch_differences);
  }
  if (!input.trace.empty()) {
    out.member("trace", input.trace);
  }
  out.member_bool("read_only", input.read_only).end_object();
  return out.take();
}

std::string captured_record(const Result<catalog::Catalog>& live) {
  json::Writer out;
  out.begin_object();
  if (live) {
    out.member("event", "captured").member_int("tools", static_cast<std::int64_t>(live->tools.size()));
  } else {
    out.member("event", "capture_failed").member("reason", name(live.error().code));
    out.member("detail", text::printable(live.error().detail, 256));
  }
  out.end_object();
  return out.take();
}

std::string refused_launch_record(const Error& error) {
  json::Writer out;
  out.begin_object().member("event", "launch_refused").member("reason", name(error.code));
  out.member("detail", text::printable(error.detail, 1024)).member("where", text::printable(error.where, 1024));
  out.end_object();
  return out.take();
}

}  // namespace cordon::app
