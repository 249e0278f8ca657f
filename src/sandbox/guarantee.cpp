// SPDX-License-Identifier: Apache-2.0
#include "sandbox/guarantee.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "core/json/write.hpp"
#include "sandbox/spec.hpp"
#include "sandbox/view.hpp"

namespace cordon::sandbox {
namespace {

constexpr auto kAlways = [](const LaunchSpec&) { return true; };

constexpr auto kWritable = [](const LaunchSpec& spec) {
  return std::ranges::any_of(spec.mounts, [](const Mount& mount) { return mount.writable; });
};

// By their own means, for programs that heed no proxy variable; a policy that takes a proxy asks for less by itself.
constexpr auto kHosts = [](const LaunchSpec& spec) {
  return !spec.network.empty() && spec.network.mode == egress::EgressMode::transparent;
};

// A policy that lists wildcards, or looks at no names, asks for less by itself.
constexpr auto kNamesOnly = [](const LaunchSpec& spec) {
  return !spec.network.empty() && spec.network.sni == egress::SniCheck::match &&
         std::ranges::none_of(spec.network.allow,
                              [](const egress::Rule& rule) { return rule.kind == egress::HostKind::wildcard; });
};

constexpr std::array<Detail, 23> kDetails = {{
    {"filesystem.read", "nothing can be read but what the policy shows", kAlways},
    {"filesystem.write", "nothing can be written but what the policy says", kAlways},
    {"filesystem.deny", "what the policy denies is hidden", [](const LaunchSpec& spec) { return !spec.deny.empty(); }},
    {"filesystem.steering", "what steers other programs cannot be changed below a write grant", kWritable},
    {"filesystem.proc", "/proc shows no other process and takes no settings", kAlways},
    {"network.outside", "no host can be reached but those that are listed, nor this one", kAlways},
    {"network.hosts", "those that are listed can be reached by name", kHosts},
    {"network.names", "who is reached is the very host that the policy names", kNamesOnly},
    {"processes.own", "no process of others is seen, signalled or traced", kAlways},
    {"processes.end", "every process ends with the launch", kAlways},
    {"ipc.own", "no shared memory, queue, semaphore or abstract socket of others", kAlways},
    {"ipc.unix_sockets", "no Unix socket of others but those that are named", kAlways},
    {"syscalls.filter", "system calls are those of a list", kAlways},
    {"syscalls.user_namespaces", "no new user namespace",
     [](const LaunchSpec& spec) { return !allows_nested_userns(spec); }},
    {"syscalls.privileges", "no capability, and none to gain", kAlways},
    {"environment.listed", "only listed variables", kAlways},
    {"descriptors.standard", "only the three standard streams", kAlways},
    {"devices.listed", "only null, zero, full, random and urandom", kAlways},
    {"limits.memory", "of all processes together",
     [](const LaunchSpec& spec) { return spec.limits.memory_bytes.has_value(); }},
    {"limits.processes", "of the whole tree", kAlways},
    {"limits.open_files", "of each process", kAlways},
    {"limits.file_size", "of each file",
     [](const LaunchSpec& spec) { return spec.limits.file_size_bytes.has_value(); }},
    {"limits.cpu_seconds", "of each process",
     [](const LaunchSpec& spec) { return spec.limits.cpu_seconds.has_value(); }},
}};

// A limit that the policy writes is required, whatever `require` says.
bool written_limit(const LaunchSpec& spec, std::string_view detail) {
  const Limits& limits = spec.limits;
  return (detail == "limits.memory" && limits.memory_bytes) || (detail == "limits.processes" && limits.processes) ||
         (detail == "limits.open_files" && limits.open_files) ||
         (detail == "limits.file_size" && limits.file_size_bytes) ||
         (detail == "limits.cpu_seconds" && limits.cpu_seconds);
}

bool requires_guarantee(const LaunchSpec& spec, std::string_view guarantee) {
  return std::ranges::find(spec.require, guarantee) != spec.require.end();
}

const Guarantee* find(std::span<const Guarantee> statements, std::string_view wanted) {
  const auto found = std::ranges::find(statements, wanted, &Guarantee::name);
  return found == statements.end() ? nullptr : &*found;
}

// The weakest of its details decides about a guarantee, and says why.
Guarantee summary(std::string_view guarantee, std::span<const Guarantee> its_details) {
  Guarantee out{.name = std::string(guarantee), .strength = Strength::enforced};
  for (const Guarantee& detail : its_details) {
    if (detail.strength > out.strength) {
      out = detail;
      out.name = std::string(guarantee);
    } else if (out.strength == Strength::enforced && out.reason.find(detail.reason) == std::string::npos) {
      out.reason += out.reason.empty() ? detail.reason : ", " + detail.reason;
    }
  }
  return out;
}

}  // namespace

std::span<const Detail> details() { return kDetails; }

std::string_view guarantee_of(std::string_view detail) { return detail.substr(0, detail.find('.')); }

std::vector<Requirement> requirements(const LaunchSpec& spec) {
  std::vector<Requirement> out;
  for (const Detail& detail : kDetails) {
    if (detail.name == "network.hosts" && detail.needed(spec)) {
      out.push_back({std::string(detail.name), "isolation.network"});
    } else if (written_limit(spec, detail.name)) {
      out.push_back({std::string(detail.name), "isolation." + std::string(detail.name)});
    } else if (requires_guarantee(spec, guarantee_of(detail.name)) && detail.needed(spec)) {
      out.push_back({std::string(detail.name), "isolation.require"});
    }
  }
  return out;
}

Statements& Statements::enforced(std::string_view detail, std::string by) {
  return say({.name = std::string(detail), .strength = Strength::enforced, .reason = std::move(by)});
}

Statements& Statements::lacks(std::string_view detail, Strength strength, std::string reason, std::string hint,
                              int error_number) {
  return say({.name = std::string(detail),
              .strength = strength,
              .reason = std::move(reason),
              .error_number = error_number,
              .hint = std::move(hint)});
}

Statements& Statements::say(Guarantee statement) {
  CORDON_ASSERT(std::ranges::find(kDetails, statement.name, &Detail::name) != kDetails.end());
  const auto before = std::ranges::find(said_, statement.name, &Guarantee::name);
  if (before == said_.end()) {
    said_.push_back(std::move(statement));
  } else {
    *before = std::move(statement);
  }
  return *this;
}

std::vector<Guarantee> Statements::complete(const LaunchSpec& spec) const {
  std::vector<Guarantee> out;
  for (const std::string_view guarantee : kGuarantees) {
    std::vector<Guarantee> its_details;
    for (const Detail& detail : kDetails) {
      if (guarantee_of(detail.name) != guarantee) {
        continue;
      }
      if (const Guarantee* said = find(said_, detail.name)) {
        its_details.push_back(*said);
      } else if (detail.needed(spec)) {
        its_details.push_back({.name = std::string(detail.name), .strength = Strength::no, .reason = "not_offered"});
      }
    }
    out.push_back(summary(guarantee, its_details));
    std::ranges::move(its_details, std::back_inserter(out));
  }
  return out;
}

void write_guarantees(json::Writer& out, std::span<const Guarantee> guarantees) {
  out.begin_object();
  for (const Guarantee& guarantee : guarantees) {
    out.key(guarantee.name).begin_object().member("strength", name(guarantee.strength));
    out.member("reason", guarantee.reason);
    if (guarantee.error_number != 0) {
      out.member_int("errno", guarantee.error_number);
    }
    if (!guarantee.hint.empty()) {
      out.member("hint", guarantee.hint);
    }
    out.end_object();
  }
  out.end_object();
}

}  // namespace cordon::sandbox
